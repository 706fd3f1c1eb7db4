"""Tuners compared on a complete table: all configurations of HPO-RL-Bench's PPO space, trained beforehand."""
