import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { eventually } from '../support/eventually.js';
import { evaluated, hostile, test, type ConsoleStage } from '../support/console-stage.js';

/** What each page shows of a real bus over two real trees. */

const notes = 'drivers/docs/notes.md';
let stage: ConsoleStage;
let ids: { task: string; gate: string; done: string };
let page: Page;

test.beforeAll(async ({ stage: its }) => {
  stage = its;
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
afterAll(async () => page.context().close());

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
    { address: `/map${query({ view: 'table' })}`, shows: ['Shards', 'Links', 'kernel'] },
    { address: `/map${query({ view: 'tree' })}`, shows: [/\d+ files of code/] },
    { address: '/agents', shows: ['manager', 'executor', 'worker', /\d+ registered/] },
    { address: '/agents/manager', shows: ['task.numbers'] },
    { address: '/mail', shows: ['agent:worker', '1 dead letter'] },
    { address: '/mail/agent%3Aworker', shows: ['agent:worker', 'Looking takes nothing'] },
    { address: '/dead', shows: ['Requeue all 1', hostile.markup] },
    { address: '/dead', shows: ['Requeue all 1'], opens: 'Requeue all 1…' },
    {
      address: `/dead${query({ mailbox: 'agent:operator' })}`,
      shows: ['There are no dead letters of agent:operator'],
    },
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

/** Waits until all of it is shown. */
async function isShown({ address, shows }: Shown, its: Page): Promise<void> {
  const main = its.locator('main');
  try {
    for (const each of shows) await main.getByText(each).first().waitFor({ state: 'attached' });
  } catch (error) {
    throw new Error(`${address} shows\n${(await main.innerText()).slice(0, 2_000)}`, {
      cause: error,
    });
  }
}

/** What text of ours would have become, were it taken for HTML. */
const foreign = `[...document.querySelectorAll('main img, main script, [onerror]')].map((its) => its.outerHTML)`;

/** What a window is too narrow for. */
const cut = `document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll('body *')]
      .filter((each) => each.getBoundingClientRect().right > innerWidth)
      .slice(0, 5)
      .map((each) => each.outerHTML.slice(0, 200))
  : []`;

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** What keeps a person out. Of all rules, unless some are named. */
const barriers = (rules?: string[]): string =>
  `axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...(rules !== undefined && { runOnly: rules }) })})
    .then(({ violations }) => violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary).join(' | ')))`;

interface Found {
  address: string;
  claim: 'shown' | 'text' | 'narrow' | 'light' | 'dark';
  found: unknown;
}

/** What is wrong with a page: opened in a narrow window, which is made wide then. */
async function faults(each: Shown, its: Page): Promise<Found[]> {
  const all: Found[] = [];
  const look = async (claim: Found['claim'], expression: string): Promise<void> => {
    for (const found of await evaluated(its, expression))
      all.push({ address: each.address, claim, found });
  };
  try {
    await its.setViewportSize({ width: 400, height: 800 });
    await its.emulateMedia({ colorScheme: 'light' });
    await its.goto(stage.console.origin + each.address);
    await isShown(each, its);
    if (each.opens !== undefined) {
      await its.locator('main').getByRole('button', { name: each.opens }).click();
      await its.getByRole('dialog').waitFor();
    }
    await look('narrow', cut);
    await its.setViewportSize({ width: 1_280, height: 800 });
    await isShown(each, its);
    await look('text', foreign);
    await evaluated(its, `${axe}; undefined`);
    await look('light', barriers());
    await its.emulateMedia({ colorScheme: 'dark' });
    // The colours alone are others.
    await look('dark', barriers(['color-contrast', 'link-in-text-block']));
  } catch (error) {
    all.push({ address: each.address, claim: 'shown', found: String(error) });
  }
  return all;
}

describe('each page', () => {
  const found: Found[] = [];
  const of = (claim: Found['claim']): Found[] => found.filter((each) => each.claim === claim);

  /** Two windows go through all pages once: the product waits while one is judged. */
  beforeAll(async () => {
    const left = pages();
    const walk = async (): Promise<void> => {
      const its = await stage.page();
      for (let each = left.shift(); each !== undefined; each = left.shift())
        found.push(...(await faults(each, its)));
      await its.context().close();
    };
    await Promise.all([walk(), walk()]);
  });

  test('shows what there is: no script fails, its policy refuses nothing', () => {
    expect(of('shown')).toEqual([]);
    expect(stage.complaints).toEqual([]);
  });

  test('shows text as text', () => expect(of('text')).toEqual([]));

  test('fits into a window of 400 pixels', () => expect(of('narrow')).toEqual([]));

  test('has nothing serious that keeps a person out, be it light or dark', () => {
    expect([...of('light'), ...of('dark')]).toEqual([]);
  });
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

test('a drawing leads to the page of a symbol, within the page and the tree', async () => {
  const { root } = stage.repository;
  const asked = query({ q: 'What does nic_open call?', tree: root });
  await page.goto(`${stage.console.origin}/ask${asked}`);
  await evaluated(page, `window.mark = 'the same'`);
  await page.locator('main svg a').first().click();
  await page
    .getByRole('heading', { level: 1 })
    .getByText(/^nic_|^dma_/)
    .waitFor();
  expect(new URL(page.url()).searchParams.get('tree')).toBe(root);
  expect(await evaluated(page, `window.mark`)).toBe('the same');
});

test('a dialog stays while text of it is selected beyond its edge, and goes at a press beside it', async () => {
  await page.goto(`${stage.console.origin}/agents`);
  await page.getByText(/registered/).waitFor();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keys' });
  const box = (await dialog.boundingBox()) ?? { x: 0, y: 0 };
  await page.mouse.move(box.x + 30, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x - 20, box.y + 30);
  await page.mouse.up();
  expect(await dialog.isVisible()).toBe(true);
  await page.mouse.click(box.x - 20, box.y + 30);
  await dialog.waitFor({ state: 'detached' });
});

test('a space between two words of a search stays, however slowly they are typed', async () => {
  await page.goto(`${stage.console.origin}/agents`);
  const search = page.getByRole('searchbox', { name: 'Name, role, project or path' });
  await search.pressSequentially('man ');
  await page.waitForURL(/q=man$/);
  await search.pressSequentially('ager');
  await page.waitForURL(/q=man\+ager/);
  expect(await search.inputValue()).toBe('man ager');
});

test('a page that fails says so, and the next one is shown, with the focus', async () => {
  const its = await stage.page();
  await its.route('**/api/call/list_agents*', (route) =>
    route.fulfill({ json: { value: { agents: [{}] }, text: '' } }),
  );
  await its.goto(`${stage.console.origin}/agents`);
  await its.getByRole('alert').getByText('PAGE', { exact: true }).waitFor();
  const navigation = its.getByRole('navigation', { name: 'Pages' });
  await navigation.getByRole('link', { name: 'Mail' }).click();
  await its.getByRole('heading', { level: 1, name: 'Mail' }).waitFor();
  expect(await its.getByRole('alert').count()).toBe(0);
  expect(await evaluated(its, `document.activeElement.id`)).toBe('content');
  await its.context().close();
});
