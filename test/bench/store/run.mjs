// Commits of 1 KiB: a log in JetStream (one server, one copy) beside LevelDB with fsync, in turns. Needs nats-server.
// `node test/bench/store/run.mjs [SECONDS [ROUNDS]]`; build first.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect } from '@nats-io/transport-node';
import { systemClock } from '../../../dist/src/base/clock.js';
import { noTrace } from '../../../dist/src/base/trace.js';
import { LogStore } from '../../../dist/src/nats/log-store.js';
import { busLayout } from '../../../dist/src/store/layouts.js';
import { LevelStore } from '../../../dist/src/store/level-store.js';

const seconds = Number(process.argv[2] ?? 5);
const rounds = Number(process.argv[3] ?? 3);
const port = 20_000 + (process.pid % 10_000);
const folder = mkdtempSync(path.join(tmpdir(), 'sigma-bench-'));
const conf = path.join(folder, 'nats.conf');
const jetstream = path.join(folder, 'jetstream');
mkdirSync(jetstream);
writeFileSync(conf, `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${jetstream}" }\n`);
const server = spawn('nats-server', ['-c', conf], { stdio: 'ignore' });
let connection;
while (connection === undefined)
  connection = await connect({ servers: `127.0.0.1:${port}` }).catch(() => undefined);

let opened = 0;
const shared = { layout: busLayout, clock: systemClock, random: Math.random };
const openLevel = () => LevelStore.open(path.join(folder, `level-${(opened += 1)}`), shared);
const openLog = async () => {
  const name = `bench${(opened += 1)}`;
  const store = await LogStore.open({
    ...{ ...shared, connection, stream: name, subject: name, replicas: 1, trace: noTrace },
    folder: path.join(folder, name),
  });
  await store.lead(() => console.error('fenced'));
  return store;
};

async function commitsPerSecond(open, callers) {
  const store = await open();
  const value = randomBytes(1024);
  let done = 0;
  const untilMs = performance.now() + seconds * 1000;
  const call = async (caller) => {
    for (let at = 0; performance.now() < untilMs; at += 1) {
      await store.commit([{ type: 'put', key: `message/${caller}/${at}`, value }]);
      done += 1;
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)));
  const rate = done / ((performance.now() - begun) / 1000);
  await store[Symbol.asyncDispose]();
  return rate;
}

console.log('callers | round | LevelDB, fsync | log, R1 | log / LevelDB');
for (const callers of [1, 64, 512])
  for (let round = 1; round <= rounds; round += 1) {
    const level = await commitsPerSecond(openLevel, callers);
    const log = await commitsPerSecond(openLog, callers);
    const row = [callers, round, Math.round(level), Math.round(log), (log / level).toFixed(2)];
    console.log(row.join(' | '));
  }
await connection.close();
server.kill();
rmSync(folder, { recursive: true });
