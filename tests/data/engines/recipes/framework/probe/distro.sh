#!/bin/sh -eu
# What layers are made of: links, owners, modes, times, holes, names; what they hide: files, folders, whole trees that are made anew; and
# what apt and a package's own scripts do as root and as _apt.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends netbase
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache

mkdir -p /opt/probe/deep/er
cd /opt/probe
echo text >file
ln file deep/hard
ln -s ../file deep/soft
ln -s /nowhere/at/all dangling
cp file 'with blank, "quotes" and ümlaut'
chmod 4755 deep/hard
echo other >owned
chown 33:1234 owned
chmod 640 owned
mkdir -m 1777 sticky
mkfifo pipe
truncate -s 1M hole
touch -d '1999-12-31 23:59:59' old
useradd --system --no-create-home --shell /usr/sbin/nologin probe

rm /etc/debian_version
echo changed >>/etc/issue
chmod 700 /etc/opt
rm -r /usr/share/doc/base-files
mkdir /usr/share/doc/base-files
echo new >/usr/share/doc/base-files/only
mv /etc/cron.d /etc/cron.elsewhere 2>/dev/null || mkdir /etc/cron.elsewhere
rm -rf /usr/share/base-passwd && ln -s /opt/probe /usr/share/base-passwd
ln -sf /opt/probe/file /etc/localtime
echo lies >/run/dropped
echo lies >/tmp/dropped
