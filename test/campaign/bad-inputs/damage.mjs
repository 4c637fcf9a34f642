// Indexes that were damaged on disk, and those of other versions.
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '../../../dist/src/base/clock.js';
import { LevelStore } from '../../../dist/src/store/level-store.js';

/** What happens to a file, by how it is told. */
export const damageTo = {
  'a flipped bit': (file) => {
    const bytes = readFileSync(file);
    bytes[Math.floor(bytes.length / 2)] ^= 0x01;
    writeFileSync(file, bytes);
  },
  'half of it is left': (file) => truncateSync(file, Math.floor(statSync(file).size / 2)),
  'no byte is left': (file) => truncateSync(file, 0),
  'it is gone': (file) => rmSync(file),
};
const served = {
  'a segment': ['segments', (name) => name.endsWith('.seg')],
  'an overlay file': ['segments', (name) => name.endsWith('.O3.ovl')],
  'the manifest': ['.', (name) => name === 'manifest.json'],
};
const levels = ['CURRENT', 'MANIFEST', '.log', '.ldb'];

/** `{ name, run }`, as in contents.mjs. */
export const damages = [
  ...Object.entries(served).flatMap(([file, where]) =>
    Object.entries(damageTo).map(([what, damage]) => ({
      name: `damage to ${file}: ${what}`,
      run: (at) => repaired(at, damage, where),
    })),
  ),
  ...levels.flatMap((file) =>
    Object.entries(damageTo).map(([what, damage]) => ({
      name: `damage to ${file} of LevelDB: ${what}`,
      run: (at) => reMined(at, damage, file),
    })),
  ),
  { name: 'an index of an older format', run: olderFormat },
  { name: 'mined facts of another layout', run: otherFacts },
];

/** Both shards keep their aliases: an explicit plan is not lost with what is damaged. */
const plan = JSON.stringify({
  shards: [
    { alias: 'gate', paths: ['src'] },
    { alias: 'more', paths: ['more'] },
  ],
});

async function indexed(at) {
  const file = path.join(at.folder, 'plan.json');
  writeFileSync(file, plan);
  at.write({ 'more/more.c': 'int more_of_it(void) { return sentinel_count(1); }\n' });
  at.commitAll();
  const { code, output } = await at.index('--shards', file);
  at.claim('it was indexed', code === 0, output);
  return at.served();
}

async function repaired(at, damage, [folder, isIt]) {
  const before = await indexed(at);
  const below = path.join(at.place, folder);
  const name = readdirSync(below).filter(isIt).sort()[0];
  damage(path.join(below, name));
  const error =
    name === 'manifest.json' && !readdirSync(below).includes(name) ? 'MISSING' : 'CORRUPT';
  const checked = await at.index('--check');
  at.claim('--check tells it', checked.code === 1 && checked.output !== '', checked.output);
  const asked = await at.sigma('callers', 'sentinel_count', '--repo', at.root);
  if (!name.endsWith('.ovl')) at.coded(asked, `INDEX_${error}`);
  else at.claim('what does not need it is answered', asked.code === 0, asked.output);
  const again = await at.index();
  at.claim('the next run repairs it', again.code === 0, again.output);
  const isSame = JSON.stringify(at.served()) === JSON.stringify(before);
  at.claim('and the index is the same as before', isSame, at.served().join(' '));
  await at.answers('everything');
}

/** Facts are only what saves work: whatever is wrong with them, a run ends well and mines what is missing. */
async function reMined(at, damage, kind) {
  const before = await indexed(at);
  const facts = path.join(at.place, 'facts');
  // A second run turns the log of the first into a table.
  at.write({ 'more/new.c': 'int new_thing;\n' });
  if (kind === '.ldb') await at.index('--gc');
  const name = readdirSync(facts).find((each) => each.includes(kind));
  damage(path.join(facts, name));
  const asked = await at.sigma('callers', 'sentinel_count', '--repo', at.root);
  at.claim('what is served needs none of it', asked.code === 0, asked.output);
  const again = await at.index();
  at.claim('the next run ends well', again.code === 0, again.output);
  rmSync(at.at('more/new.c'));
  const third = await at.index();
  at.claim('and the one after it', third.code === 0, third.output);
  const isSame = JSON.stringify(at.served()) === JSON.stringify(before);
  at.claim('with the same index as before', isSame, at.served().join(' '));
  await at.answers('everything');
}

async function olderFormat(at) {
  const before = await indexed(at);
  const manifest = path.join(at.place, 'manifest.json');
  const value = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, JSON.stringify({ ...value, format: 1, segment_format: 2 }));
  const asked = await at.sigma('callers', 'sentinel_count', '--repo', at.root);
  at.coded(asked, 'INDEX_CORRUPT');
  at.claim('it says that another version wrote it', /version/.test(asked.output), asked.output);
  const again = await at.index();
  at.claim('the next run builds it anew', again.code === 0, again.output);
  at.claim('out of what was mined', /0 mined, 2 reused/.test(again.output), again.output);
  at.claim('with the plan that was given', /^gate .*\n^more /m.test(again.output), again.output);
  const isSame = JSON.stringify(at.served()) === JSON.stringify(before);
  at.claim('it is the same as before', isSame, at.served().join(' '));
  await at.answers('everything');
}

async function otherFacts(at) {
  await indexed(at);
  const facts = path.join(at.place, 'facts');
  rmSync(facts, { recursive: true });
  const layout = { name: 'facts', version: 9 };
  const others = await LevelStore.open(facts, { layout, clock: systemClock, random: Math.random });
  await others[Symbol.asyncDispose]();
  const again = await at.index();
  at.claim('the run ends with 0', again.code === 0, again.output);
  await at.answers('everything');
}
