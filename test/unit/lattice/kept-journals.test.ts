import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { KeptJournals } from '../../../src/lattice/query/kept-journals.js';
import { noJournal, type Journal } from '../../../src/lattice/query/journal.js';
import type { BusError } from '../../../src/errors/bus-error.js';
import { managerLayout } from '../../../src/store/layouts.js';
import { eventually } from '../../support/eventually.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const of = { key: 'k', versions: 'v', untilMs: Number.MAX_SAFE_INTEGER };
const journalOf = (kept: KeptJournals): Promise<Journal> =>
  kept.run(of, (journal) => Promise.resolve(journal));

interface Opened {
  kept: KeptJournals;
  clock: VirtualClock;
  told: (string | undefined)[];
}

async function open(place: string): Promise<Opened> {
  const clock = new VirtualClock();
  const told: (string | undefined)[] = [];
  const onChange = (trouble: BusError | undefined): void => void told.push(trouble?.code);
  const openStore = () => openTestStore(place, managerLayout);
  return { kept: await KeptJournals.open({ openStore, clock, onChange }), clock, told };
}

test('a store that cannot be opened costs the journal and nothing else, and is opened when it can be', async () => {
  const place = path.join(folder.path, 'damaged');
  mkdirSync(place);
  writeFileSync(path.join(place, 'CURRENT'), 'no such manifest');
  const { kept, clock, told } = await open(place);
  expect([kept.trouble?.code, kept.trouble?.message]).toEqual([
    'JOURNAL_UNAVAILABLE',
    expect.stringContaining(place),
  ]);
  expect(await journalOf(kept)).toBe(noJournal);
  rmSync(path.join(place, 'CURRENT'));
  await clock.advance(15_000);
  await eventually(() => expect(told).toEqual(['JOURNAL_UNAVAILABLE', undefined]));
  expect(kept.trouble).toBeUndefined();
  expect(await journalOf(kept)).not.toBe(noJournal);
  await kept[Symbol.asyncDispose]();
  expect(clock.waiting).toBe(0);
});

test('a store that a living process has is an error', async () => {
  const place = path.join(folder.path, 'locked');
  const first = await open(place);
  await expect(open(place)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
  await first.kept[Symbol.asyncDispose]();
  const second = await open(place);
  expect(second.kept.trouble).toBeUndefined();
  await second.kept[Symbol.asyncDispose]();
});
