import { expect, test } from 'vitest';
import { renderQuery } from '../../../src/render/answer.js';
import { synthesise } from '../../../src/lattice/synthesis.js';
import type { Hop, Answer, Via } from '../../../src/pgc/shapes.js';

const hop = (agent: string, said: string, via: Via | null = null): Hop => ({
  agent,
  scope: [agent],
  question: 'q',
  answer: said,
  citations: [],
  via,
  elapsed_ms: 1,
});

const via: Via = {
  symbol: 'rdmsr_on_cpu',
  from: 'drivers/coretemp.c:7',
  to: 'arch/msr-smp.c:3',
  from_agent: 'drivers',
  chain: [
    {
      symbol: 'show_temp',
      file_path: 'drivers/coretemp.c',
      line: 5,
      agent: 'drivers',
      call_site: '',
    },
  ],
  relevance: 0.5,
};

function answerOf(hops: Hop[]): Answer {
  const visited = hops.map(({ agent }) => agent);
  return {
    question: 'q',
    ...synthesise(hops),
    query_path: visited,
    hops,
    safety: { max_hops: 6, actual_hops: hops.length, visited_agents: visited },
    agents_asked: 5,
    partial: false,
    errors: [],
    elapsed_ms: 12,
    root: '',
  };
}

const hops = [
  hop('drivers', '`show_temp` reads.'),
  hop('arch', '`rdmsr_on_cpu` asks.', via),
  hop('thermal', '`step_wise` lowers.'),
];

test('a chain is drawn along its calls; where another one begins, it says so', () => {
  expect(renderQuery(answerOf(hops)).split('\n').slice(0, 10)).toEqual([
    '● drivers  drivers',
    '│   `show_temp` reads.',
    '│',
    '│   show_temp calls rdmsr_on_cpu at drivers/coretemp.c:7',
    '▼   rdmsr_on_cpu is defined at arch/msr-smp.c:3',
    '● arch  arch',
    '    `rdmsr_on_cpu` asks.',
    '',
    'Found by search as well:',
    '● thermal  thermal',
  ]);
});

test('the text of an answer tells what a call led to from what was found', () => {
  const [first, second, third] = synthesise(hops).answer.split('\n');
  expect(first).toBe('1. drivers (drivers): `show_temp` reads.');
  expect(second).toContain('`show_temp` calls it at drivers/coretemp.c:7 in drivers.');
  expect(third).toBe('3. thermal (thermal): Found by search as well. `step_wise` lowers.');
});
