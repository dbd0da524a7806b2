"""Gradient boosting in LightGBM, with trees as deep as those of XGBoost."""
import lightgbm

import boosted_trees

VERSION = lightgbm.__version__


class Booster:
    def __init__(self, rows, targets, threads):
        settings = {
            "objective": "regression", "max_depth": boosted_trees.DEPTH, "num_leaves": 2 ** boosted_trees.DEPTH,
            "learning_rate": boosted_trees.RATE, "max_bin": boosted_trees.BINS, "num_threads": threads, "seed": 0, "verbosity": -1,
            "force_col_wise": True,  # it would time both ways in the first round and take either
        }
        self.booster = lightgbm.Booster(settings, lightgbm.Dataset(rows, targets, params=settings))

    def grow(self):
        self.booster.update()

    def predict(self, rows):
        return self.booster.predict(rows)
