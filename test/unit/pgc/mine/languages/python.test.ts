import { expect, test } from 'vitest';
import { callsOf, mined, symbolOf, wordsIn } from '../../../../support/miners/mined.js';

const source = `import os.path as osp, sys
from ..core import run as start, stop
from . import *

# How long to wait.
TIMEOUT: int = 3

@register(1)
class Miner(Base, metaclass=Meta):
    """Reads sources.

    Args:
        path: where they are
    """
    async def mine(self, path: str = 'x', *rest, **more) -> int:
        r"""Mine one."""
        return await self.pool.take(path) + Facts(1) + count(2)

    def _private(self):
        pass


def outer(a, *, b):
    def inner():
        return osp.join(a)
    return inner
`;

test('classes, methods, functions and module variables are symbols with their docstrings', async () => {
  const facts = await mined('python', source);
  expect(
    facts.symbols.map((each) => [each.signature, each.container, each.exported, each.doc]),
  ).toEqual([
    ['constant:TIMEOUT | type:int', '', true, 'How long to wait.'],
    ['class:Miner | extends:Base | methods:2', '', true, 'Reads sources.'],
    [
      "method:mine | params:3 | returns:int | async:true | (self, path: str = 'x', *rest, **more)",
      'Miner',
      true,
      'Mine one.',
    ],
    ['method:_private | params:0 | (self)', 'Miner', false, ''],
    ['function:outer | params:2 | (a, *, b)', '', true, ''],
    ['function:inner | params:0', 'outer', false, ''],
  ]);
  expect(symbolOf(facts, 'Miner')).toMatchObject({ line_start: 9, line_end: 20 });
});

test('calls know their function, receiver and whether they construct', async () => {
  expect(callsOf(await mined('python', source))).toEqual([
    '- → register (direct)',
    'mine → self.pool.take (member)',
    'mine → Facts (construct)',
    'mine → count (direct)',
    'inner → osp.join (member)',
  ]);
});

test('imports keep target, names and aliases', async () => {
  const facts = await mined('python', source);
  expect(facts.imports).toEqual([
    { target: 'os.path', names: ['*:osp'], line: 1 },
    { target: 'sys', names: ['*:sys'], line: 1 },
    { target: '..core', names: ['run:start', 'stop'], line: 2 },
    { target: '.', names: ['*'], line: 3 },
  ]);
});

test('a decorator counts for what it decorates', async () => {
  const facts = await mined('python', source);
  expect(wordsIn(facts, 'Miner')).toMatchObject({ register: 1, read: 1 });
});
