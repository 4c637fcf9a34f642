import { existsSync } from 'node:fs';
import { access, constants, mkdtemp, readdir, readFile, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../src/config/config.js';
import { BusError } from '../src/errors/bus-error.js';
import { manifestIn, placeOf } from '../src/pgc/plan/manifest.js';
import { openSandbox } from '../src/executor/open-sandbox.js';
import { assertOutside, wallsOf } from '../src/executor/sandbox.js';
import { isNats } from '../src/transport/address.js';
import { broken, ok, unchecked, type Check } from './check.js';

/** Indexes that are looked at; a home has a handful. */
const indexesMax = 100;
/** For one word of a language model. */
const modelMs = 20_000;
const nodeMin = [20, 19] as const;

export interface KnownIndex {
  root: string;
  shards: number;
}

/** All that `sigma doctor` looks at. `asksModel`: a language model that is configured is asked for a word, which may cost money. */
export async function examined(
  config: Config,
  { asksModel }: { asksModel: boolean },
): Promise<{ checks: Check[]; indexes: KnownIndex[] }> {
  const checks = await programChecks();
  checks.push(ok('settings', path.join(config.home, 'config.json')), await homeCheck(config.home));
  checks.push(await modelCheck(config, asksModel), await sandboxCheck(config));
  if (isNats(config.bus)) {
    const { natsChecks } = await import('./checks-nats.js');
    checks.push(...(await natsChecks(config)));
  }
  const { indexes, problems } = await indexesIn(config.home);
  return { checks: [...checks, ...problems], indexes };
}

/** What needs no settings. */
export async function programChecks(): Promise<Check[]> {
  return [nodeCheck(), await nativeCheck()];
}

function nodeCheck(): Check {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorMin, minorMin] = nodeMin;
  const isNew = major > majorMin || (major === majorMin && minor >= minorMin);
  if (isNew) return ok('node', process.version);
  const next = `Install Node ${nodeMin.join('.')} or newer.`;
  return { name: 'node', state: 'broken', detail: process.version, next };
}

/** Parts in machine code, which may be of another machine than this. */
async function nativeCheck(): Promise<Check> {
  try {
    await import('../src/transport/zeromq.js');
    await import('../src/store/level-store.js');
    return ok('native parts', 'zeromq and level are loaded');
  } catch (error) {
    return { ...broken('native parts', error), next: 'Install Sigma Bus on this machine again.' };
  }
}

/** Nothing is made that is not there. */
async function homeCheck(home: string): Promise<Check> {
  try {
    if (!existsSync(home)) {
      let above = path.dirname(home);
      while (!existsSync(above)) above = path.dirname(above);
      if (!(await stat(above)).isDirectory()) throw new Error(`${above} is no folder`);
      await access(above, constants.W_OK);
      return ok('home', `${home} (made when it is needed)`);
    }
    await rmdir(await mkdtemp(path.join(home, '.doctor-')));
    return ok('home', home);
  } catch (error) {
    const next = 'Set SIGMA_HOME to a folder that you may write to, or give it free space.';
    return { ...broken('home', error), next };
  }
}

/** A configured model must work: it is asked for one word. */
async function modelCheck({ model }: Config, asks: boolean): Promise<Check> {
  const name = 'language model';
  if (model === undefined)
    return ok(name, 'none is configured: answers are sentences of the index');
  if (!asks) return unchecked(name, `${model.model} at ${model.url}: \`sigma doctor\` asks it`);
  try {
    const { Chat } = await import('../src/model/chat.js');
    const { textOf } = await import('../src/model/texts.js');
    const options = { env: process.env, retries: 0, answerMs: modelMs };
    const chat = new Chat({ ...model, requestMs: modelMs }, options);
    await chat.ask(textOf('probe').text, 'ok?', new AbortController().signal);
    return ok(name, `${model.model} at ${model.url} answers`);
  } catch (error) {
    return broken(name, error);
  }
}

/** Only who runs programs needs one. */
async function sandboxCheck(config: Config): Promise<Check> {
  const name = 'sandbox';
  const { root } = config.executor;
  try {
    if (root !== undefined) assertOutside(root, wallsOf(config, process.getuid?.() ?? 0));
    const sandbox = await openSandbox(config);
    switch (sandbox.kind) {
      case 'on':
        return ok(name, 'programs of tasks see neither keys nor sockets of the bus');
      case 'off': {
        const next = 'Take `sandbox` out of `executor` in config.json.';
        return { name, state: 'absent', detail: 'switched off', next };
      }
      case 'missing': {
        const error = new BusError('SANDBOX_UNAVAILABLE', { detail: sandbox.detail });
        const state = root === undefined ? 'absent' : 'broken';
        return { name, state, detail: error.message, next: error.next };
      }
    }
  } catch (error) {
    return broken(name, error);
  }
}

async function indexesIn(home: string): Promise<{ indexes: KnownIndex[]; problems: Check[] }> {
  const folder = path.join(home, 'pgc');
  const names = (await readdir(folder).catch((): string[] => [])).sort().slice(0, indexesMax);
  const indexes: KnownIndex[] = [];
  const problems: Check[] = [];
  for (const name of names) {
    const place = path.join(folder, name);
    const file = path.join(place, 'manifest.json');
    // Nothing is served from a folder without one: a first run is on its way, or was killed.
    if (!existsSync(file)) continue;
    try {
      // Read by its folder, not by the tree that it names.
      const { root, shards } = await manifestIn({ ...placeOf(place, home), manifest: file }, place);
      indexes.push({ root, shards: shards.length });
    } catch (error) {
      const next = `Run sigma index ${(await rootIn(file)) || 'REPO'}.`;
      problems.push({ ...broken(`index ${name}`, error), next });
    }
  }
  return { indexes, problems };
}

/** The tree that a damaged manifest says it is of; empty: it does not. */
async function rootIn(file: string): Promise<string> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as { root?: unknown } | null;
    return typeof value?.root === 'string' && path.isAbsolute(value.root) ? value.root : '';
  } catch {
    return '';
  }
}
