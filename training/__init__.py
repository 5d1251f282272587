"""How the verifier's weights are made: data, generated contrasts and rewordings, training, export and measuring.

No part of the program: it needs torch, and labelled pairs that are no part of this project. `make train` runs it whole.
"""
