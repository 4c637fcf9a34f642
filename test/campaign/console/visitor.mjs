// A browser before the console, with all that it starts: one page that goes from view to view as a person does.
import { existsSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { endWithParent } from '../agent.mjs';

const { executablePath, niceness, views } = endWithParent();
const loadMsMax = 30_000;
/** A person looks at a view for so long, and scrolls. */
const viewMs = 7_500;
const scrollsPerView = 4;

/** Notes when each frame began. */
const recorder = `window.framesMs = [];
  const note = (ms) => { window.framesMs.push(ms); requestAnimationFrame(note); };
  requestAnimationFrame(note);`;

const server = await chromium.launchServer({ executablePath, args: ['--no-sandbox'] });
lower(server.process().pid);
const browser = await chromium.connect(server.wsEndpoint());
const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
await context.addInitScript({ content: recorder });
let page;

const tasks = {
  /** `link` is needed once. */
  open: async ({ link }) => {
    page ??= await context.newPage();
    page.setDefaultTimeout(loadMsMax);
    await page.goto(link);
    if (link !== 'about:blank') await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    return {};
  },
  close: async () => {
    await page?.close();
    page = undefined;
    return {};
  },
  /** Frames of so many seconds, while it goes from view to view; of a page without views, as it is. */
  walk: async ({ seconds, isBlank }) => {
    await evaluated('window.framesMs.length = 0');
    const fromMs = await evaluated('performance.now()');
    const endMs = performance.now() + seconds * 1_000;
    const seen = [];
    for (let at = 0; performance.now() < endMs && !isBlank; at += 1)
      seen.push(await look(views[at % views.length], endMs));
    await wait(Math.max(0, endMs - performance.now()));
    const frames = JSON.parse(await evaluated('JSON.stringify(window.framesMs)'));
    return { frames: [fromMs, ...frames], seen };
  },
  end: async () => {
    await browser.close();
    await server.close();
    process.exit(0);
  },
};

process.on('message', async ({ type, ...its }) => {
  try {
    process.send({ type: 'done', ...(await tasks[type](its)) });
  } catch (error) {
    process.send({ type: 'done', error: String(error) });
  }
});
process.send({ type: 'ready' });

/** How long it took until the view showed what it is of. */
async function look({ name, shows, scroll }, untilMs) {
  const startedMs = performance.now();
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
  await page.locator('main').locator(shows).first().waitFor({ state: 'attached' });
  const shownMs = performance.now() - startedMs;
  for (let scrolls = 0; scrolls < scrollsPerView && performance.now() < untilMs; scrolls += 1) {
    await page.mouse.move(640, 500);
    await page.mouse.wheel(0, scroll);
    await wait(Math.min(viewMs / scrollsPerView, Math.max(0, untilMs - performance.now())));
  }
  return { name, shownMs };
}

/** What the policy of the page cannot refuse. */
async function evaluated(expression) {
  const session = await context.newCDPSession(page);
  const { result } = await session.send('Runtime.evaluate', { expression, returnByValue: true });
  await session.detach();
  return result.value;
}

/** It leads a session of its own, whose share of the processor goes by the session, where the kernel groups them so. */
function lower(pid) {
  const file = `/proc/${pid}/autogroup`;
  if (existsSync(file)) writeFileSync(file, `${niceness}`);
}
