"""Adversarial networks under differential privacy: an edge that only `cli/` opens.

Two methods. `DPGAN` trains a critic by clipped, noised and accounted gradients; `NoiseGAN` sees
nothing but features that were noised once: of every row of a table, or summed over the classes of
images. In both the generator learns from what was released alone. PyTorch is imported when one of
them begins.
"""
