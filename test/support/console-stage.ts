import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { chromium as driver, type Browser as Chromium, type Page } from 'playwright-core';
import { test as anyTest, expect } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { recordOf } from './bus.js';
import { chromium } from './chromium.js';
import { Browser, startConsole, type RunningConsole } from './console.js';
import { eventually } from './eventually.js';
import { chainRepository } from './repository.js';
import { sigma, startProcess } from './sigma.js';
import { Stack } from './stack.js';

/** Would run where it is taken for HTML. */
export const hostile = {
  markup: '<img src=x onerror=ran()>',
  script: '<script>ran()</script>',
};

/** A tree whose file and method are named like HTML. */
const sheetText = `/** Draws ${hostile.script} on the page. */
export class Sheet {
  '${hostile.markup}'(size: number): number {
    return paintSheet(size);
  }
}
export function paintSheet(size: number): number {
  const message = '${hostile.script}';
  throw new Error(\`cannot paint \${message} \${size}\`);
}
`;
const notes = `# Notes

\`nic_open\` calls \`nic_setup_rx_ring\`.

\`drivers/nic/nic_main.c:900\` opens the device.
`;

/**
 * All processes of the product over two trees, the console among them, and a browser before it. There is something for each page: tasks,
 * an open gate, a dead letter, a waiting prompt, a critique.
 */
export class ConsoleStage implements AsyncDisposable {
  /** What each open page complained of: errors of its scripts, and what its policy refused. */
  readonly complaints: string[] = [];

  private constructor(
    readonly repository: ReturnType<typeof chainRepository>,
    readonly sheets: string,
    readonly place: string,
    readonly stack: Stack,
    /** An agent of the test, which refuses what it gets. */
    readonly worker: Client,
    readonly console: RunningConsole,
    readonly operator: Browser,
    readonly chromium: Chromium,
  ) {}

  static async open(): Promise<ConsoleStage> {
    const repository = chainRepository();
    const { home, root, plan } = repository;
    const base = realpathSync(path.dirname(root));
    const [sheets, place] = [path.join(base, 'sheets'), path.join(base, 'place')];
    for (const each of [home, sheets, place, path.join(root, 'drivers/docs')])
      mkdirSync(each, { recursive: true });
    writeFileSync(path.join(sheets, `${hostile.markup}.ts`), sheetText);
    writeFileSync(path.join(root, 'drivers/docs/notes.md'), notes);
    const config = { executor: { root: place }, person: 'Ann' };
    writeFileSync(path.join(home, 'config.json'), JSON.stringify(config));
    const agents = ['manager', 'executor', 'critic'];
    const indexed = await sigma(home, ['index', sheets]);
    expect(indexed.code, indexed.stderr).toBe(0);
    const stack = await Stack.open(home, agents, { root, plan }, { areProcesses: true });
    await stack.start(['agent', 'pgc', sheets]);
    const worker = Client.connect({
      link: new ZeromqLink(loadConfig({ SIGMA_HOME: home }).bus),
      identity: { agent: 'worker', role: 'executor', isEphemeral: false },
      clock: systemClock,
      random: Math.random,
    });
    await worker.ready({ withinMs: 20_000 });
    await worker.register(recordOf('worker'));
    const served = await startConsole(home, [root], startProcess);
    const operator = await Browser.open(await served.link());
    const executablePath = chromium() ?? '';
    const browser = await driver.launch({ executablePath, args: ['--no-sandbox'] });
    const parts = [repository, sheets, place, stack, worker, served, operator, browser] as const;
    return new ConsoleStage(...parts);
  }

  /** What an operation answers, asked beside the page. */
  async valueOf(name: string, input: object = {}, query = ''): Promise<any> {
    const { status, text, json } = await this.operator.call(name, input, query);
    expect([status, text]).toEqual([200, expect.any(String)]);
    return json.value;
  }

  /** A page that is signed in by its link. */
  async page(its: { width?: number } = {}): Promise<Page> {
    const page = await this.visitor(its);
    await page.goto(await this.console.link());
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return page;
  }

  /** A page of a browser that is not signed in. */
  async visitor({ width = 1_280 } = {}): Promise<Page> {
    const context = await this.chromium.newContext({
      viewport: { width, height: 800 },
      reducedMotion: 'reduce',
    });
    await context.addInitScript({
      content: `window.ran = () => console.error('a foreign script ran');
        addEventListener('securitypolicyviolation', (its) =>
          console.error('policy: ' + its.violatedDirective + ' ' + its.blockedURI + ' ' + its.sample));`,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    page.on('pageerror', (error) => this.complaints.push(`${page.url()} ${error.message}`));
    page.on('console', (its) => {
      if (its.type() === 'error') this.complaints.push(`${page.url()} ${its.text()}`);
    });
    return page;
  }

  /** An action that deletes, so that it stops at a gate. Where it runs it leaves the file `NAME.effect`. */
  async gate(name: string): Promise<{ task: string; gate: string }> {
    const script = `echo done > ${name}.effect\nrm -rf ${name}.old\n`;
    writeFileSync(path.join(this.place, `${name}.sh`), script);
    const asked = {
      task: `tidy ${name} ${hostile.markup}`,
      action: { argv: ['sh', `${name}.sh`] },
    };
    const task = { ...asked, runner: 'command', wait: false };
    const { id } = await this.valueOf('delegate_task', task);
    let gate = '';
    await eventually(async () => {
      const { gates } = await this.valueOf('list_gates');
      gate = gates.find((each: any) => each.task === id)?.id ?? '';
      expect(gate).not.toBe('');
    }, 30_000);
    return { task: id, gate };
  }

  /** A message that its agent refuses. */
  async deadLetter(): Promise<number> {
    const receiving = await this.worker.receive(() => {
      throw new BusError('MALFORMED_PAYLOAD', { detail: `what is ${hostile.markup}` });
    });
    const last = async (): Promise<number> =>
      (await this.valueOf('dead list')).messages.at(-1)?.seq ?? 0;
    const before = await last();
    await this.valueOf('send', { to: 'worker', message: `riddle ${hostile.script}` });
    let seq = 0;
    await eventually(async () => {
      seq = await last();
      expect(seq).toBeGreaterThan(before);
    });
    await receiving[Symbol.asyncDispose]();
    return seq;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.chromium.close();
    this.console.process.kill('SIGTERM');
    await this.console.ended;
    await this.worker.close();
    await this.stack[Symbol.asyncDispose]();
    this.repository.remove();
  }
}

/** One stage for all files: to set it up takes as long as most of them. Tests change only what they have made there themselves. */
// Vitest reads from the pattern which fixtures this one needs: none.
// oxlint-disable-next-line no-empty-pattern
export const test = anyTest.extend('stage', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const stage = await ConsoleStage.open();
  onCleanup(() => stage[Symbol.asyncDispose]());
  return stage;
});

/** The value of an expression in the page, which the policy of the page cannot refuse. */
export async function evaluated(page: Page, expression: string): Promise<any> {
  const session = await page.context().newCDPSession(page);
  const asked = { expression, awaitPromise: true, returnByValue: true };
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', asked);
  await session.detach();
  if (exceptionDetails !== undefined)
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value;
}
