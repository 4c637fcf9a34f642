import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { ConsoleStage, evaluated, hostile } from '../support/console-stage.js';

/** What each page shows of a real bus over two real trees. */

const notes = 'drivers/docs/notes.md';
let stage: ConsoleStage;
let ids: { task: string; gate: string; done: string };
let page: Page;

beforeAll(async () => {
  stage = await ConsoleStage.open();
  const { root } = stage.repository;
  const run = { task: 'say hello', runner: 'command', action: { argv: ['echo', 'hello'] } };
  const done = await stage.valueOf('delegate_task', { ...run, wait: true });
  ids = { ...(await stage.gate('swept')), done: done.id };
  await stage.deadLetter();
  await stage.valueOf('push', { prompt: `say ${hostile.script}`, name: 'hello' });
  const critique = { path: notes, modes: ['chain-of-verification'] };
  await stage.valueOf('critique', critique, `?tree=${encodeURIComponent(root)}`);
  page = await stage.page();
});
afterAll(async () => stage[Symbol.asyncDispose]());

interface Shown {
  address: string;
  /** All of this is on the page once it has its data. */
  shows: (string | RegExp)[];
  /** Button of a dialog, which is opened then. */
  opens?: string;
}

const query = (its: Record<string, string>): string => `?${new URLSearchParams(its).toString()}`;

function pages(): Shown[] {
  const { sheets } = stage;
  const flow = 'What does nic_open call?';
  const method = `${hostile.markup}.ts#Sheet.${hostile.markup}`;
  return [
    { address: '/ask', shows: ['For example'] },
    { address: `/ask${query({ q: flow })}`, shows: [/Found \d+ places/, 'nic_setup_rx_ring(nic)'] },
    { address: `/ask${query({ q: flow, deep: '1' })}`, shows: ['Way', 'dma_alloc_ring'] },
    { address: `/ask${query({ q: 'paintSheet', tree: sheets })}`, shows: [hostile.markup] },
    {
      address: `/symbol${query({ id: 'dma_alloc_ring' })}`,
      shows: ['include/linux/dma.h:6', 'nic_setup_rx_ring', 'dma_alloc_mapped'],
    },
    {
      address: `/symbol${query({ id: method, tree: sheets })}`,
      shows: [hostile.markup, 'paintSheet'],
    },
    { address: '/map', shows: ['size: lines', 'drivers'] },
    { address: `/map${query({ as: 'table' })}`, shows: ['drivers', 'kernel', 'mm'] },
    { address: `/map${query({ view: 'tree' })}`, shows: [/\d+ files of code/] },
    { address: '/agents', shows: ['manager', 'executor', 'worker', /\d+ registered/] },
    { address: '/agents/manager', shows: ['task.numbers'] },
    { address: '/mail', shows: ['agent:worker', '1 dead letter'] },
    { address: '/mail/agent%3Aworker', shows: ['agent:worker', 'Looking takes nothing'] },
    { address: '/dead', shows: ['Requeue all 1', hostile.markup] },
    { address: '/dead', shows: ['Requeue all 1'], opens: 'Requeue all 1…' },
    { address: '/tasks', shows: ['say hello', 'tidy swept'] },
    { address: `/tasks/${ids.done}`, shows: ['hello', 'completed'] },
    { address: `/tasks/${ids.task}`, shows: ['It stopped at a risk', hostile.markup] },
    { address: '/gates', shows: ['sh swept.sh', ids.gate] },
    { address: `/gates/${ids.gate}`, shows: ['May this be done?', 'cannot be judged'] },
    { address: `/gates/${ids.gate}`, shows: ['What would run'], opens: 'Approve…' },
    { address: '/prompts', shows: ['operator'] },
    { address: `/prompts${query({ owner: 'operator' })}`, shows: ['hello'] },
    { address: '/critic', shows: [notes] },
    { address: `/critic${query({ artifact: notes })}`, shows: [notes, /:900/] },
    { address: '/health', shows: ['Messages a second', 'node', 'settings'] },
    { address: '/nowhere', shows: ['There is no such page'] },
  ];
}

/** Goes there, and waits until all of it is shown. */
async function visit({ address, shows, opens }: Shown, its: Page): Promise<void> {
  await its.goto(stage.console.origin + address);
  const main = its.locator('main');
  try {
    for (const each of shows) await main.getByText(each).first().waitFor({ state: 'attached' });
    if (opens === undefined) return;
    await main.getByRole('button', { name: opens }).click();
    await its.getByRole('dialog').waitFor();
  } catch (error) {
    throw new Error(`${address} shows\n${(await main.innerText()).slice(0, 2_000)}`, {
      cause: error,
    });
  }
}

/** Of all pages what `found` finds wrong. */
async function wrong(its: Page, found: () => Promise<unknown[]>): Promise<unknown[]> {
  const all: unknown[] = [];
  for (const each of pages()) {
    try {
      await visit(each, its);
      all.push(...(await found()).map((one) => ({ address: each.address, found: one })));
    } catch (error) {
      all.push(String(error));
    }
  }
  return all;
}

/** What text of ours would have become, were it taken for HTML. */
const foreign = `[...document.querySelectorAll('main img, main script, [onerror]')].map((its) => its.outerHTML)`;

test('each page shows what there is: no script fails, its policy refuses nothing, and text is text', async () => {
  expect(await wrong(page, () => evaluated(page, foreign))).toEqual([]);
  expect(stage.complaints).toEqual([]);
});

test('a message that is written like HTML is shown as it is', async () => {
  await page.goto(`${stage.console.origin}/dead`);
  await page.locator('main tbody').getByRole('button').first().click();
  await page.getByRole('dialog').getByText(`riddle ${hostile.script}`).waitFor();
  expect(await evaluated(page, foreign)).toEqual([]);
  expect(stage.complaints).toEqual([]);
});

test('a script that got into a page all the same would be refused', async () => {
  const its = await stage.page();
  const main = `document.querySelector('main')`;
  for (const slipped of [
    `${main}.innerHTML = '${hostile.markup}'`,
    `${main}.appendChild(document.createElement('img')).setAttribute('onerror', 'ran()')`,
    `${main}.appendChild(document.createElement('script')).textContent = 'ran()'`,
  ])
    await expect(evaluated(its, slipped)).rejects.toThrow('This document requires');
  await eventually(() =>
    expect(stage.complaints.join()).toContain('policy: require-trusted-types-for'),
  );
  await its.context().close();
  expect(stage.complaints.splice(0).join()).not.toContain('a foreign script ran');
});

test('who is not signed in is told how to, and a link lets in once', async () => {
  const its = await stage.visitor();
  await its.goto(`${stage.console.origin}/tasks`);
  await its.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  expect(await its.getByRole('navigation').count()).toBe(0);
  const link = await stage.console.link();
  await its.goto('about:blank');
  await its.goto(link);
  await its.getByRole('navigation', { name: 'Pages' }).waitFor();
  expect(its.url()).not.toContain('token');
  await its.getByRole('button', { name: 'Sign out' }).click();
  await its.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await its.goto('about:blank');
  await its.goto(link);
  await its.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await its.context().close();
  // The browser itself tells of answers that refuse.
  stage.complaints.length = 0;
});

test('a question leads to lines of code, a certain call, and the page of a symbol', async () => {
  await page.goto(stage.console.origin);
  await page.getByRole('searchbox', { name: 'Question' }).fill('What does nic_open call?');
  await page.keyboard.press('Enter');
  const evidence = page.getByRole('article', { name: /^Evidence/ });
  await evidence.locator('.code', { hasText: 'nic_setup_rx_ring(nic)' }).first().waitFor();
  await page.getByText('exact', { exact: true }).first().waitFor();
  await evidence.getByRole('link', { name: 'nic_setup_rx_ring' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'nic_setup_rx_ring' }).waitFor();
  await page.locator('main').getByText('dma_alloc_ring(nic->dev, 4096)').first().waitFor();
  expect(new URL(page.url()).pathname).toBe('/symbol');
  expect(stage.complaints).toEqual([]);
});

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Of all rules, unless some are named. */
const findings = (rules?: string[]): string =>
  `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) })})
    .then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary).join(' | ')))`;

test('nothing serious keeps a person out of a page, be it light or dark', async () => {
  const its = await stage.page();
  const found = await wrong(its, async () => {
    await its.emulateMedia({ colorScheme: 'light' });
    await evaluated(its, `${axe}; undefined`);
    const light = await evaluated(its, findings());
    await its.emulateMedia({ colorScheme: 'dark' });
    // The colours alone are others.
    const dark = await evaluated(its, findings(['color-contrast', 'link-in-text-block']));
    return [...light, ...dark.map((each: string) => `dark: ${each}`)];
  });
  expect(found).toEqual([]);
  await its.context().close();
});

test('a window of 400 pixels is wide enough for each page', async () => {
  const its = await stage.page({ width: 400 });
  const wide = `document.documentElement.scrollWidth > innerWidth
    ? [...document.querySelectorAll('body *')]
        .filter((each) => each.getBoundingClientRect().right > innerWidth)
        .slice(0, 5)
        .map((each) => each.outerHTML.slice(0, 200))
    : []`;
  expect(await wrong(its, () => evaluated(its, wide))).toEqual([]);
  await its.context().close();
});
