// One process that opens an index and is asked again and again: node one-process.mjs REPO HOME QUESTIONS.json
import { readFileSync } from 'node:fs';
import { systemClock } from '../../../dist/src/base/clock.js';
import { Lattice } from '../../../dist/src/lattice/lattice.js';
import { LatticeQuestions } from '../../../dist/src/lattice/questions.js';
import { openShards } from '../../../dist/src/pgc/serve/open-shards.js';

const [repo, home, file] = process.argv.slice(2);
const questions = JSON.parse(readFileSync(file, 'utf8'));
const rssMiB = () => Math.round(process.memoryUsage.rss() / 1_024 / 1_024);
const timed = async (work) => {
  const [startMs, startCpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(startCpu);
  return { ms: performance.now() - startMs, cpuMs: (user + system) / 1_000, rssMiB: rssMiB() };
};

const before = rssMiB();
let asked;
const open = await timed(async () => {
  const { shards, cards } = await openShards(repo, home);
  const trees = shards.map(({ index }) => index.info);
  asked = new LatticeQuestions(new Lattice(shards, cards), systemClock, trees);
});
const ask = (question) =>
  timed(() => asked.ask({ question, overlays: [], top_k: 10 }, { deadlineMs: 600_000 }));
const first = await ask(questions[0]);
const second = await ask(questions[1]);
for (const each of questions.slice(2)) await ask(each);
process.stdout.write(JSON.stringify({ before, open, first, second, all: { rssMiB: rssMiB() } }));
