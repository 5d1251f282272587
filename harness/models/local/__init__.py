"""Models that run on this machine: the embedder, the cross-encoder and their tokenizer; weights ship in `weights/`."""
