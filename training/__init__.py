"""Training of the verifier: data, generated contrasts and rewordings, training, export, measurements.

Not part of the program. It needs torch, and labelled pairs that are not in this project; see README.md. `make train`
runs all of it.
"""
