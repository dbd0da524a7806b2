#!/bin/sh -eu
# Installs CUDA $KILN_FACT_CUDA and cuDNN from NVIDIA's archives: KILN_FACT_PACKAGES of them. A key is used only when its
# fingerprint is the known one.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends ca-certificates curl gnupg

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Name, URL, key file, fingerprint.
add_archive() {
  curl -fsSL --proto '=https' -o "$work/$1.pub" "$2/$3"
  gpg --homedir "$work" --batch --quiet --no-default-keyring --keyring "$work/$1.kbx" --import "$work/$1.pub"
  found=$(gpg --homedir "$work" --batch --with-colons --no-default-keyring --keyring "$work/$1.kbx" --fingerprint |
    awk -F: '$1 == "fpr" {print $10; exit}')
  [ "$found" = "$4" ] || { echo "vendor.sh: the key of $2 is ${found:-nothing}, not $4" >&2; exit 4; }
  gpg --homedir "$work" --batch --no-default-keyring --keyring "$work/$1.kbx" --export "$4" >"/usr/share/keyrings/$1.gpg"
  echo "deb [signed-by=/usr/share/keyrings/$1.gpg] $2 /" >"/etc/apt/sources.list.d/$1.list"
}

add_archive nvidia-cuda "$KILN_FACT_ARCHIVE" "${KILN_FACT_ARCHIVE_KEY% *}" "${KILN_FACT_ARCHIVE_KEY#* }"
add_archive nvidia-ml "$KILN_FACT_CUDNN_ARCHIVE" "${KILN_FACT_CUDNN_ARCHIVE_KEY% *}" "${KILN_FACT_CUDNN_ARCHIVE_KEY#* }"
gpgconf --homedir "$work" --kill all

apt-get update -qq
# A list of packages.
# shellcheck disable=SC2086
apt-get install -qq -o Dpkg::Use-Pty=0 --no-install-recommends --allow-downgrades $KILN_FACT_PACKAGES
for package in $KILN_FACT_PACKAGES; do
  case $package in
    *=*) apt-mark hold "${package%%=*}" >/dev/null ;;
  esac
done

ln -sfn "cuda-$KILN_FACT_CUDA" /usr/local/cuda
printf '/usr/local/cuda/lib64\n/usr/local/cuda/extras/CUPTI/lib64\n' >/etc/ld.so.conf.d/cuda.conf
ldconfig
apt-get purge -qq --auto-remove gnupg
apt-get clean
rm -rf /var/lib/apt/lists/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
