"""A model of two layers and its training step, and a loop with callbacks like MindSpore's. Takes milliseconds on any machine."""

import types

import torch


class Tiny:
    def __init__(self, width=16):
        torch.manual_seed(0)
        self.net = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Linear(width, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.data = torch.ones(8, width)

    def train_step(self):
        """One step; the loss."""
        self.optimizer.zero_grad()
        loss = self.net(self.data).square().mean()
        loss.backward()
        self.optimizer.step()
        return float(loss)


class Model:
    """Calls `step_begin` and `step_end` of its callbacks with the number of the step, from 1."""

    def __init__(self, network):
        self._network = network

    def train(self, steps, callbacks=()):
        for number in range(1, steps + 1):
            arguments = types.SimpleNamespace(cur_step_num=number)
            context = types.SimpleNamespace(original_args=lambda: arguments)
            for callback in callbacks:
                callback.step_begin(context)
            self._network.train_step()
            for callback in callbacks:
                callback.step_end(context)
