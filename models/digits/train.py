# SPDX-License-Identifier: Apache-2.0
"""Trains the digits model, writes its two archives and its samples. Run: cd models/digits && python train.py"""
import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn

import export_tools

SEED, TEST, CALIBRATION, EPOCHS = 20, 450, 100, 80


def conv_bn(c_in, c_out, kernel, stride=1, groups=1):
    return [nn.Conv2d(c_in, c_out, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(c_out)]


def separable(c_in, c_out, stride):
    return nn.Sequential(*conv_bn(c_in, c_in, 3, stride, groups=c_in), nn.ReLU6(), *conv_bn(c_in, c_out, 1))


class Digits(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(*conv_bn(1, 16, 3), nn.ReLU())
        self.residual = separable(16, 16, 1)
        self.reduce = nn.Sequential(separable(16, 32, 2), nn.ReLU())
        self.widen = nn.Sequential(separable(32, 64, 1), nn.ReLU())
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classify = nn.Linear(64, 10)

    def forward(self, x):
        x = self.stem(x)
        x = torch.relu(x + self.residual(x))
        x = self.widen(self.reduce(x))
        return self.classify(torch.flatten(self.pool(x), 1))


def shifted(x):
    """Each picture moved by up to one pixel."""
    padded = nn.functional.pad(x, (1, 1, 1, 1))
    offsets = torch.randint(0, 3, (len(x), 2)).tolist()
    return torch.stack([p[:, i:i + 8, j:j + 8] for p, (i, j) in zip(padded, offsets)])


def train(model, x, y):
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)
    for _ in range(EPOCHS):
        # A last batch of a few samples would upset the batch-norm statistics.
        for batch in torch.randperm(len(x)).split(32)[:-1]:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(shifted(x[batch])), y[batch]).backward()
            optimizer.step()
        schedule.step()


def logits(model, x):
    with torch.no_grad():
        return torch.cat([model(sample[None]) for sample in x])


def main():
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    data = load_digits()
    x = torch.tensor(data.images / 16, dtype=torch.float32)[:, None]
    y = torch.tensor(data.target)
    order = torch.randperm(len(x))
    test, training = order[:TEST], order[TEST:]
    calibration = training[:CALIBRATION]

    model = Digits()
    train(model, x[training], y[training])
    example = (x[:1].clone(),)  # a view would drag the whole data set into the archive
    exported = export_tools.export(model, example)
    export_tools.save(exported, "digits.pt2")
    out_float = logits(model, x[test])

    converted = export_tools.quantize(exported, [(sample[None],) for sample in x[calibration]])
    quantized = torch.export.export(converted, example)
    export_tools.save(quantized, "digits_pt2e.pt2")
    out_pt2e = logits(converted, x[test])

    np.savez_compressed("digits_calib.npz", x=x[calibration].numpy())
    np.savez_compressed("digits_test.npz", x=x[test].numpy(), y=y[test].numpy(), logits_float=out_float.numpy(),
                        logits_pt2e=out_pt2e.numpy())
    print("parameters", sum(p.numel() for p in model.parameters()))
    for name, out in (("float", out_float), ("PT2E", out_pt2e)):
        right = int((out.argmax(1) == y[test]).sum())
        print(f"{name} accuracy {right / TEST:.4f} ({right} of {TEST})")
    print("same class as float", int((out_pt2e.argmax(1) == out_float.argmax(1)).sum()), "of", TEST)


if __name__ == "__main__":
    main()
