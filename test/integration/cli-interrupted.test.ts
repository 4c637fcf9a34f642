import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import type { Incoming } from '../../src/client/responder.js';
import { latticeMessages, latticeService } from '../../src/pgc/serve/messages.js';
import { loadConfig } from '../../src/config/config.js';
import { openClient } from '../../src/remote/open-client.js';
import { eventually } from '../support/eventually.js';
import { startSigma } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary.js';

const promptMs = 3_000;
const home = temporaryFolder();
const told: AbortSignal[] = [];
let stack: Stack;
let silent: Client;

function neverAnswers({ signal }: Incoming): Promise<never> {
  told.push(signal);
  return new Promise(() => undefined);
}

beforeAll(async () => {
  stack = await Stack.open(home.path, []);
  const config = loadConfig({ SIGMA_HOME: home.path });
  silent = openClient(config, { agent: 'silent', role: 'manager', isEphemeral: false });
  await silent.ready({ withinMs: 5_000 });
  const { topology, path } = latticeMessages;
  silent.serve({ [topology.type]: neverAnswers, [path.type]: neverAnswers });
  await silent.offer([latticeService]);
});

afterAll(async () => {
  await silent.close();
  await stack[Symbol.asyncDispose]();
  home.remove();
});

test.each([['topology'], ['path', 'a', 'b']])(
  'Ctrl-C ends lattice %s at once, and who works on it is told',
  async (...args) => {
    const before = told.length;
    const asking = startSigma(home.path, ['lattice', ...args]);
    await eventually(() => expect(told).toHaveLength(before + 1));
    const interruptedMs = performance.now();
    asking.process.kill('SIGINT');
    expect(await asking.ended).toBe(130);
    expect(performance.now() - interruptedMs).toBeLessThan(promptMs);
    expect(asking.output()).toContain('INTERRUPTED');
    await eventually(() => expect(told.at(-1)!.aborted).toBe(true));
  },
);
