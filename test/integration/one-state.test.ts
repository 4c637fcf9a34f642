import { expect, test } from 'vitest';
import { noTrace } from '../../src/base/trace.js';
import type { Lattice } from '../../src/lattice/lattice.js';
import { inOneState } from '../../src/manager/one-state.js';
import { openLog } from '../../src/observe/log.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { Host } from '../../src/pgc/serve/host.js';
import type { HostBus } from '../../src/pgc/serve/take-over.js';
import type { CodedError } from '../../src/pgc/shapes.js';
import { Shards } from '../../src/remote/shards.js';
import { testBus } from '../support/bus.js';
import { TemporaryTree } from '../support/git-tree.js';
import { memoryHarness } from '../support/networks.js';

const aliases = ['one', 'two'];
const filesOf = (callers: number): Record<string, string> =>
  Object.fromEntries(
    aliases.map((name) => [
      `${name}/a.c`,
      Array.from({ length: callers }, (_, at) => `int ${name}_${at}(void) { return f(); }\n`).join(
        '',
      ),
    ]),
  );

interface Told {
  errors: CodedError[];
  callers: number[];
}
const ask = async ({ ports }: Lattice): Promise<Told> => {
  const rows = await Promise.all([...ports.values()].map((port) => port.callers(['f'])));
  return { errors: [], callers: rows.map(({ length }) => length) };
};

test('an answer for which hosts have taken different states of the index is asked for again, or says so', async () => {
  await using tree = await TemporaryTree.create(filesOf(1));
  await using home = await TemporaryTree.create();
  const common = { root: tree.root, home: home.root, jobs: 0 };
  const shards = { shards: aliases.map((alias) => ({ alias, paths: [alias] })) };
  await indexFolder({ ...common, shards });
  const bus = testBus(memoryHarness());
  const connecting: HostBus = {
    connect: ({ agent, ...identity }) => bus.dial(agent, identity),
    trace: noTrace,
  };
  const hosts = aliases.map((alias) => {
    const options = { share: new Set([alias]), memoryBytes: 2 ** 30, takesOver: true };
    return new Host({ folder: tree.root, home: home.root, options, bus: connecting });
  });
  try {
    await bus.start();
    await Promise.all(hosts.map((host) => host.load()));
    const log = openLog({ log: 'silent' } as never, { service: 'test' });
    const known = new Shards(await bus.client('manager', { role: 'manager' }), log);
    const told = async (
      deadlineMs: number,
      again = async (): Promise<void> => {},
    ): Promise<Told> => {
      const [lattice] = (await known.lattices()).values();
      let asked = 0;
      return inOneState(known, lattice as Lattice, { deadlineMs }, async (its) => {
        asked += 1;
        if (asked > 1) await again();
        return ask(its);
      });
    };
    expect(await told(20_000)).toEqual({ errors: [], callers: [1, 1] });
    await tree.write(filesOf(2));
    await indexFolder(common);
    // Nobody has taken it yet.
    expect(await told(20_000)).toEqual({ errors: [], callers: [1, 1] });
    await hosts[0]?.reloadIfNewer();
    // No time is left to ask again.
    expect(await told(1)).toMatchObject({ errors: [{ code: 'INDEX_CHANGED' }], callers: [2, 1] });
    const reload = async (): Promise<void> => hosts[1]?.reloadIfNewer();
    expect(await told(20_000, reload)).toEqual({ errors: [], callers: [2, 2] });
  } finally {
    for (const host of hosts) await host.close();
    await bus.close();
  }
});
