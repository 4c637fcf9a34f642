import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const load = createRequire(import.meta.url);
const { forbidden, options } = load('../../.dependency-cruiser.cjs') as {
  forbidden: NonNullable<NonNullable<ICruiseOptions['ruleSet']>['forbidden']>;
  options: ICruiseOptions;
};
const { parts, rooms, packages } = load('../../.dependency-cruiser.layers.cjs') as {
  parts: Record<string, string[]>;
  rooms: Record<string, string[]>;
  packages: Record<string, string>;
};

async function check(baseDir: string): Promise<{ modules: string[]; violations: string[] }> {
  const tsConfig = extractTSConfig(path.join(root, 'tsconfig.json'));
  const { output } = await cruise(
    ['src', 'services'],
    { ...options, baseDir, validate: true, ruleSet: { forbidden } },
    undefined,
    { tsConfig },
  );
  const { modules, summary } = output as ICruiseResult;
  return {
    modules: modules
      .map((each) => each.source)
      .filter((source) => /^(src|services)\/.*\.(tsx?|mjs)$/.test(source)),
    violations: summary.violations.map((each) => `${each.rule.name}: ${each.from} -> ${each.to}`),
  };
}

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(tsx?|mjs)$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith('src/wire/generated'));
}

test('every module keeps to the import table, and every module was looked at', async () => {
  const { modules, violations } = await check(root);
  expect(violations).toEqual([]);
  expect(new Set(modules)).toEqual(new Set([...sources('src'), ...sources('services')]));
  expect(modules.length).toBeGreaterThan(100);
}, 60_000);

/** A file that breaks one rule, and that rule's name. */
interface Planted {
  rule: string;
  file: string;
  text: string;
}

const importOf = (from: string, target: string): string =>
  `import type { x } from '${target.startsWith('src/') || target.startsWith('services/') ? relative(from, target) : target}';\nexport type Y = typeof x;\n`;

function relative(from: string, target: string): string {
  const found = path.relative(path.dirname(from), target);
  return found.startsWith('.') ? found : `./${found}`;
}

function plantIn(folder: string, rule: string, target: string): Planted {
  const file = `${folder}/planted-${rule.replace(/\W+/g, '-')}.ts`;
  return { rule, file, text: importOf(file, target) };
}

/** One forbidden import for each rule of the table. */
function plantedForEachRule(): Planted[] {
  const names = Object.keys(rooms);
  const lastRoom = names.at(-1) ?? '';
  return [
    ...Object.entries(parts).map(([part, allowed]) => {
      const foreign = Object.keys(parts).find((each) => each !== part && !allowed.includes(each));
      const rule = `${part.replace('/', '-')}-imports-only-what-it-may`;
      return plantIn(`src/${part}`, rule, `src/${foreign}/x.js`);
    }),
    ...names.map((room) =>
      plantIn(
        `src/pgc/${room}`,
        `pgc-${room}-imports-only-what-it-may`,
        room === lastRoom ? 'src/lattice/x.js' : `src/pgc/${lastRoom}/x.js`,
      ),
    ),
    ...Object.keys(packages).map((name) =>
      plantIn('src/base', `${name.replace(/\W+/g, '-')}-in-one-place`, name),
    ),
    plantIn('src/somewhere', 'every-part-is-in-the-table', 'src/base/x.js'),
    plantIn('src/pgc/somewhere', 'every-room-is-in-the-table', 'src/base/x.js'),
    plantIn('services/broker', 'a-service-imports-no-other', 'services/cli/x.js'),
    plantIn('services', 'services-are-started-from-one-table', 'services/cli/x.js'),
    plantIn('src/broker', 'a-service-is-imported-by-services-only', 'services/x.js'),
    {
      rule: 'no-package-without-a-place',
      file: 'src/base/planted-package.ts',
      text: "import { x } from 'only-to-build';\nexport const y = x;\n",
    },
    plantIn('src/base', 'nothing-unresolved', 'src/base/missing.js'),
    {
      rule: 'no-circles',
      file: 'src/base/planted-one.ts',
      text: "import type { Two } from './planted-two.js';\nexport type One = Two[];\n",
    },
  ];
}

test('each rule finds the import that it forbids', async () => {
  const folder = temporaryFolder();
  try {
    const write = (name: string, content: string): void => {
      mkdirSync(path.dirname(path.join(folder.path, name)), { recursive: true });
      writeFileSync(path.join(folder.path, name), content);
    };
    const planted = plantedForEachRule();
    for (const part of Object.keys(parts)) write(`src/${part}/x.ts`, 'export const x = 1;');
    for (const room of Object.keys(rooms)) write(`src/pgc/${room}/x.ts`, 'export const x = 1;');
    write('services/x.ts', 'export const x = 1;');
    write('services/cli/x.ts', 'export const x = 1;');
    write(
      'src/base/planted-two.ts',
      "import type { One } from './planted-one.js';\nexport type Two = One[];\n",
    );
    write('package.json', '{ "devDependencies": { "only-to-build": "1" } }');
    write('node_modules/only-to-build/package.json', '{ "name": "only-to-build", "main": "x.js" }');
    write('node_modules/only-to-build/x.js', 'exports.x = 1;');
    for (const { file, text } of planted) write(file, text);
    const { violations } = await check(folder.path);
    const found = (rule: string, file: string): boolean =>
      violations.some((each) => each.startsWith(`${rule}: ${file} -> `));
    const missed = planted.filter(({ rule, file }) => !found(rule, file)).map(({ rule }) => rule);
    expect(missed).toEqual([]);
    expect(new Set(planted.map(({ rule }) => rule))).toEqual(
      new Set(forbidden.map(({ name }) => name)),
    );
  } finally {
    folder.remove();
  }
}, 60_000);

const filesInFolderMax = 25;

test('no folder holds more files than a reader takes in', () => {
  const counts = new Map<string, number>();
  for (const part of ['src', 'services'])
    for (const entry of readdirSync(path.join(root, part), {
      recursive: true,
      withFileTypes: true,
    }))
      if (entry.isFile()) counts.set(entry.parentPath, (counts.get(entry.parentPath) ?? 0) + 1);
  const full = [...counts].filter(([, count]) => count > filesInFolderMax);
  expect(full.map(([folder, count]) => `${path.relative(root, folder)}: ${count}`)).toEqual([]);
});
