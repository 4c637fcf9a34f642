import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { forbidden, options } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs') as {
  forbidden: NonNullable<NonNullable<ICruiseOptions['ruleSet']>['forbidden']>;
  options: ICruiseOptions;
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
      .filter((source) => /^(src|services)\//.test(source)),
    violations: summary.violations.map((each) => `${each.rule.name}: ${each.from} -> ${each.to}`),
  };
}

function sources(folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith('src/wire/generated'));
}

test('every module keeps to the import table, and every module was looked at', async () => {
  const { modules, violations } = await check(root);
  expect(violations).toEqual([]);
  expect(new Set(modules)).toEqual(new Set([...sources('src'), ...sources('services')]));
  expect(modules.length).toBeGreaterThan(100);
}, 60_000);

test.each([
  [
    'src/broker/planted.ts',
    "import { x } from '../pgc/x.js';\nexport const y = x;",
    'broker-imports-only-what-it-may',
  ],
  [
    'src/base/planted.ts',
    "import { x } from '../pgc/x.js';\nexport const y = x;",
    'base-imports-only-what-it-may',
  ],
  [
    'src/pgc/planted.ts',
    "import type { x } from '../../services/x.js';\nexport type y = typeof x;",
    'pgc-imports-only-what-it-may',
  ],
  [
    'src/broker/planted.ts',
    "import { Router } from 'zeromq';\nexport const y = Router;",
    'zeromq-in-one-place',
  ],
  [
    'src/remote/planted.ts',
    "import { x } from '../manager/x.js';\nexport const y = x;",
    'remote-imports-only-what-it-may',
  ],
  [
    'src/manager/planted.ts',
    "import { x } from '../executor/x.js';\nexport const y = x;",
    'manager-imports-only-what-it-may',
  ],
  [
    'src/executor/planted.ts',
    "import { x } from '../render/x.js';\nexport const y = x;",
    'executor-imports-only-what-it-may',
  ],
  [
    'src/render/planted.ts',
    "import { x } from '../manager/x.js';\nexport const y = x;",
    'render-imports-only-what-it-may',
  ],
  [
    'src/pgc/planted.ts',
    "import { x } from './serve/x.js';\nexport const y = x;",
    'pgc-imports-only-what-it-may',
  ],
  [
    'src/critic/serve/planted.ts',
    "import { x } from '../../remote/x.js';\nexport const y = x;",
    'critic-serve-imports-only-what-it-may',
  ],
  [
    'services/cli/planted.ts',
    "import { x } from '../mcp/x.js';\nexport const y = x;",
    'a-service-imports-no-other',
  ],
  [
    'services/planted.ts',
    "import { x } from './mcp/x.js';\nexport const y = x;",
    'services-are-started-from-one-table',
  ],
  [
    'src/somewhere/planted.ts',
    "import { x } from '../pgc/x.js';\nexport const y = x;",
    'every-part-is-in-the-table',
  ],
])(
  'a planted violation in %s is found',
  async (file, text, rule) => {
    const folder = temporaryFolder();
    try {
      const plant = (name: string, content: string): void => {
        mkdirSync(path.dirname(path.join(folder.path, name)), { recursive: true });
        writeFileSync(path.join(folder.path, name), content);
      };
      plant('src/pgc/x.ts', 'export const x = 1;');
      for (const folder of ['manager', 'executor', 'render', 'remote', 'pgc/serve'])
        plant(`src/${folder}/x.ts`, 'export const x = 1;');
      for (const file of ['services/x.ts', 'services/mcp/x.ts']) plant(file, 'export const x = 1;');
      plant(file, text);
      const { violations } = await check(folder.path);
      expect(violations.map((each) => each.split(':')[0])).toContain(rule);
    } finally {
      folder.remove();
    }
  },
  60_000,
);
