import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, expect } from 'vitest';
import { evaluated, test, type ConsoleStage } from '../support/console-stage.js';
import { eventually } from '../support/eventually.js';

/** What a person does in the page happens on the bus, and what happens there the page says. */

let stage: ConsoleStage;
let page: Page;

test.beforeAll(async ({ stage: its }) => {
  stage = its;
  page = await stage.page();
});
afterAll(async () => page.context().close());

const open = (address: string): Promise<unknown> => page.goto(stage.console.origin + address);

test('what is approved in the page is done by the executor, and nothing before', async () => {
  await open('/gates');
  const { gate, task } = await stage.gate('tidied');
  const effect = path.join(stage.place, 'tidied.effect');
  // It comes by itself to a page that is open.
  await page.getByRole('link', { name: 'sh tidied.sh' }).click();
  await page.getByText('cannot be judged').first().waitFor();
  expect([new URL(page.url()).pathname, existsSync(effect)]).toEqual([`/gates/${gate}`, false]);
  await page
    .getByRole('button', { name: /^(Approve|Only this once)…$/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('sh tidied.sh').waitFor();
  await dialog.getByRole('textbox').fill('it is old');
  await dialog.getByRole('button', { name: /^(Approve|Only this once)$/ }).click();
  await page.getByText(/^approve by Ann/).waitFor();
  await eventually(() => expect(existsSync(effect)).toBe(true), 30_000);
  await open(`/tasks/${task}`);
  await page.getByText('completed', { exact: true }).first().waitFor();
  expect(stage.complaints).toEqual([]);
});

test('what purges all dead letters is never where a chosen one is purged, and purging one leaves the others', async () => {
  const [first, second] = [await stage.deadLetter(), await stage.deadLetter()];
  await open('/dead');
  const box = (seq: number) => page.getByRole('checkbox', { name: `Choose letter ${seq}` });
  await box(first).check();
  const purge = page.getByRole('button', { name: 'Purge 1…' });
  const { x = 0, y = 0 } = (await purge.boundingBox()) ?? {};
  await purge.click();
  await page.getByRole('dialog').getByRole('button', { name: 'Purge 1 dead letter' }).dblclick();
  await page.getByText('1 letter was deleted for good.').waitFor();
  await box(first).waitFor({ state: 'detached' });
  const there = `document.elementFromPoint(${x + 5}, ${y + 5}).closest('button')`;
  expect(await evaluated(page, `${there} === null || ${there}.disabled`)).toBe(true);
  await page.getByRole('button', { name: /^Purge all \d+…$/ }).waitFor();
  expect([await page.getByRole('dialog').count(), await box(second).count()]).toEqual([0, 1]);
  await stage.valueOf('dead purge', { seq: [second] });
  expect(stage.complaints).toEqual([]);
});

test('a dead letter that is requeued in the page arrives at its agent', async () => {
  const seq = await stage.deadLetter();
  await open('/dead');
  await page.getByRole('checkbox', { name: `Choose letter ${seq}` }).check();
  await page.getByRole('button', { name: 'Requeue 1…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Requeue 1 dead letter' }).click();
  await page.getByText('1 letter was put back, to be delivered again.').waitFor();
  const { view } = await stage.worker.take({ deadlineMs: 30_000 });
  expect(view.seq).toBe(seq);
  stage.worker.settle([seq]);
  await page.getByRole('checkbox', { name: `Choose letter ${seq}` }).waitFor({ state: 'detached' });
  expect(stage.complaints).toEqual([]);
});

test('a page says that its broker was killed, and goes on by itself when there is one again', async () => {
  await open('/tasks');
  await page.getByText('bus online').waitFor();
  await page.getByText('tidy tidied').first().waitFor();
  await stage.stack.stopBus('SIGKILL');
  await page.getByText('The bus is away').waitFor();
  await page.getByText('bus away').waitFor();
  // What was shown stays.
  expect(await page.getByText('tidy tidied').count()).toBeGreaterThan(0);
  await stage.stack.startBus();
  await page.getByText('bus online').waitFor();
  await page.getByText('The bus is away').waitFor({ state: 'detached' });
  const { task } = await stage.gate('later');
  await page.getByText('tidy later').first().waitFor();
  await page.getByRole('link', { name: /tidy later/ }).click();
  await page.getByText('It stopped at a risk').waitFor();
  expect(new URL(page.url()).pathname).toBe(`/tasks/${task}`);
});
