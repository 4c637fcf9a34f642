import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../../src/lattice/ask.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { inTurn, Sought } from '../../../src/lattice/sought.js';
import { analyse } from '../../../src/pgc/search/question/question.js';
import { together } from '../../../src/pgc/search/rank/weighing.js';
import type { Shard } from '../../../src/pgc/serve/shard.js';
import type { AskRequest, ShardPort } from '../../../src/pgc/shapes.js';
import { chainTree, type ChainTree } from '../../support/chain-tree.js';

const functionOf = (name: string, body: string): string =>
  `int ${name}(int given)\n{\n\t${body}\n\treturn given;\n}\n`;

/** What each shard knows is too little of a question about all four. */
const files: Record<string, string> = {
  'drivers/wheel.c': [
    functionOf('spin_wheel', 'given = spin_faster(given);'),
    functionOf('brake_wheel', 'given = press(given);'),
  ].join('\n'),
  'include/ledger.c': functionOf('settle_ledger', 'given = post_booking(given);'),
  'kernel/harbour.c': functionOf('moor_harbour', 'given = drop_anchor(given);'),
  'mm/orchard.c': functionOf('prune_orchard', 'given = graft_branch(given);'),
};
const spread = 'How do wheel, ledger, harbour and orchard go together?';

let tree: ChainTree;
beforeAll(async () => {
  tree = await chainTree(files);
});
afterAll(async () => tree[Symbol.asyncDispose]());

const asked = (question: string): AskRequest => ({ question, overlays: [], top_k: 5 });

/** With the requests for an answer that each shard gets. */
async function watched(): Promise<{ lattice: Lattice; requests: Map<string, AskRequest> }> {
  const requests = new Map<string, AskRequest>();
  const ports = tree.shards.map((shard) =>
    Object.assign(Object.create(shard) as ShardPort, {
      ...bound(shard),
      ask: (request: AskRequest) => {
        requests.set(shard.agent, request);
        return shard.ask(request);
      },
    }),
  );
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  return { lattice: new Lattice(ports, cards), requests };
}

function bound(shard: Shard): Pick<ShardPort, 'weigh' | 'seek'> {
  return { weigh: (its) => shard.weigh(its), seek: (its) => shard.seek(its) };
}

test('a question whose words are spread over the shards is answered, though each alone knows too little', async () => {
  const { lattice } = await watched();
  for (const shard of tree.shards) {
    const { errors } = await shard.ask(asked(spread));
    expect(errors.map(({ code }) => code)).toEqual(['NOT_FOUND']);
  }
  const { evidence, errors } = await ask(lattice, { ...asked(spread), top_k: 10 });
  expect(errors).toEqual([]);
  expect(new Set(evidence.map(({ agent }) => agent))).toEqual(
    new Set(['drivers', 'include', 'kernel', 'mm']),
  );
});

test('what stands nowhere in the tree is not found, which one shard says', async () => {
  const { lattice, requests } = await watched();
  const { evidence, errors } = await ask(lattice, asked('How does the telescope track comets?'));
  expect(evidence).toEqual([]);
  expect(errors.map(({ code }) => code)).toEqual(['NOT_FOUND']);
  expect(requests.size).toBe(1);
});

test('only the shards whose sources are shown write them, and no more than are shown', async () => {
  const { lattice, requests } = await watched();
  const { evidence, metadata } = await ask(lattice, asked('How is the wheel braked?'));
  expect(evidence[0]?.name).toBe('brake_wheel');
  expect(metadata).toMatchObject({ agents_asked: 4, top_k: 5 });
  expect([...requests.keys()]).toEqual(['drivers']);
  expect(requests.get('drivers')?.shown).toBe(evidence.length);
});

test('a shard that does not know enough takes no place of one that does', async () => {
  const { lattice, requests } = await watched();
  const ports = [...lattice.ports.values()].map((port) =>
    port.agent === 'mm'
      ? Object.assign(Object.create(port) as ShardPort, {
          weigh: (request: AskRequest) => port.weigh(request),
          seek: async (request: AskRequest) => ({
            ...(await port.seek(request)),
            ...{ similarities: [0.99, 0.98, 0.97, 0.96, 0.95], is_known: false },
          }),
        })
      : port,
  );
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  const { evidence } = await ask(new Lattice(ports, cards), asked('How is the wheel braked?'));
  expect(evidence[0]?.name).toBe('brake_wheel');
  expect([...requests.keys()]).toEqual(['drivers']);
});

test('the words of a question weigh in every shard what they weigh in all together', async () => {
  const { lattice, requests } = await watched();
  await ask(lattice, asked(spread));
  const all = await Promise.all(tree.shards.map((shard) => shard.weigh(asked(spread))));
  const whole = together(all);
  expect(whole.documents).toBe(all.reduce((sum, { documents }) => sum + documents, 0));
  // `wheel` stands in two functions of one shard; all others in one of one.
  const one = tree.shards[0]!;
  const [wheel, ledger] = (await one.weigh(asked('Where are wheel and ledger?'))).having;
  expect([wheel! >= 2, ledger]).toEqual([true, 0]);
  for (const { counts } of requests.values()) expect(counts).toEqual(whole);
});

test('before nothing is said to be known, the shards are asked whose cards do not speak of it', async () => {
  const [drivers, ...others] = tree.shards;
  const text = 'How is the orchard pruned?';
  const sought = async (further: readonly ShardPort[]): Promise<Sought> => {
    const its = new Sought(analyse(text), asked(text), undefined);
    await its.among([drivers!], further);
    return its;
  };
  const alone = await sought([]);
  expect(alone.answers.map(({ is_known }) => is_known)).toEqual([false]);
  const all = await sought(others);
  expect(all.chosen().map(({ agent }) => agent)).toEqual(['mm']);
  expect(all.asked).toBe(2);
});

test('a shard that fails to weigh or to search is told of, and the others answer', async () => {
  const broken = () => Promise.reject(new Error('disk on fire'));
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  for (const change of [{ weigh: broken }, { seek: broken }]) {
    const ports = tree.shards.map((shard) =>
      shard.agent === 'mm'
        ? Object.assign(Object.create(shard) as ShardPort, bound(shard), change)
        : shard,
    );
    const most = asked('Where are wheel, ledger and orchard?');
    const answer = await ask(new Lattice(ports, cards), most);
    expect(answer.evidence.length).toBeGreaterThan(0);
    expect(answer.errors).toMatchObject([{ code: 'AGENT_FAILED', agent: 'mm' }]);
    expect(answer.partial).toBe(true);
  }
});

test('a shard that counts nothing leaves what the others count', () => {
  const counted = { documents: 4, having: [2, 1], lengths: [] };
  const none = { documents: 1, having: [], lengths: [] };
  expect(together([none, counted])).toMatchObject({ documents: 5, having: [2, 1] });
});

test('lists are joined as far as wanted: the likeliest next one of any, each in its order', () => {
  const of = (...all: number[]) => all.map((similarity) => ({ similarity }));
  const lists = [of(0.9, 0.2, 0.8), of(0.5, 0.4), []];
  expect(inTurn(lists)).toEqual(of(0.9, 0.5, 0.4, 0.2, 0.8));
  expect(inTurn(lists, 2)).toEqual(of(0.9, 0.5));
});
