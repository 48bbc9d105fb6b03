"""Areas of tools/bench: each module here is one, with `run(bench) -> list of figures`."""
