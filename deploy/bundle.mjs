// What ships: the compiled program and the packages that it loads, in fewer and larger files, which start a process in two
// thirds of the time, and a thread in half of it. What package.json names in `dependencies` is in machine code and is
// loaded as installed; every other package is in the bundle, in the version that was tested, with its licence.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import { rolldown } from 'rolldown';

/** What begins a thread, by the name of its bundle. */
const threads = {
  mine: 'src/pgc/mine/worker.js',
  shard: 'src/pgc/build/shard-worker.js',
  tree: 'src/pgc/serve/tree-worker.js',
  audit: 'src/observe/audit-writer.js',
};

const packageOf = /^(.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+))[\\/]/;

/** A thread's file stands where it was compiled to, and loads its bundle. What is read at run time stays there, too. */
export async function bundle(root, next) {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(path.join(root, 'package.json'), 'utf8'),
  );
  const installed = new Set(Object.keys({ ...dependencies, ...optionalDependencies }));
  const packages = new Set();
  const write = (folder, input, output) =>
    bundled({ next, folder, input, output, installed, packages });
  const compiled = (files) =>
    Object.fromEntries(Object.entries(files).map(([name, file]) => [name, path.join(next, file)]));
  await write('bundle', compiled({ main: 'services/cli/main.js' }), { format: 'esm' });
  await write('bundle/threads', compiled(threads), { format: 'esm' });
  for (const [name, file] of Object.entries(threads)) {
    const place = path.relative(path.dirname(file), `bundle/threads/${name}.js`);
    writeFileSync(path.join(next, file), `import ${JSON.stringify(slashed(place))};\n`);
  }
  // What is loaded by `require`, at once and when it is first wanted.
  const zod = { zod: path.join(root, 'node_modules/zod/index.js') };
  await write('bundle', zod, { format: 'cjs', exports: 'named', minify: true });
  writeFileSync(path.join(next, 'bundle/LICENCES.txt'), licencesOf(packages));
}

async function bundled({ next, folder, input, output, installed, packages }) {
  const unresolved = [];
  const its = await rolldown({
    input,
    platform: 'node',
    // Modules before what wraps them: a `require` that is hidden in a function is not found.
    resolve: { mainFields: ['module', 'main'] },
    external: (id) => isBuiltin(id) || installed.has(id),
    plugins: [itsPlace(next, folder), english, note(packages)],
    // A command whose code another one has, too, is loaded with it: no harm. `eval` is web-tree-sitter's, for grammars with code
    // of JavaScript in them; ours have none.
    checks: { ineffectiveDynamicImport: false, eval: false },
    onLog(level, log, handle) {
      if (log.code === 'UNRESOLVED_IMPORT') unresolved.push(log.message);
      else handle(level, log);
    },
  });
  // Each package is a file of its own, so that a program loads only what it needs.
  const debugName = 'packages';
  const name = (id) =>
    packageOf
      .exec(id)[2]
      .replaceAll(/[@\\/]+/g, '-')
      .replace(/^-/, '');
  const isModule = output.format === 'esm';
  await its.write({
    ...{ dir: path.join(next, folder), ...output },
    ...{
      entryFileNames: isModule ? '[name].js' : '[name].cjs',
      chunkFileNames: '[name]-[hash].js',
    },
    ...(isModule && { codeSplitting: { groups: [{ debugName, test: packageOf, name }] } }),
  });
  await its.close();
  if (unresolved.length > 0) throw new Error(unresolved.join('\n'));
}

function itsPlace(next, folder) {
  return {
    name: 'its-place',
    transform(code, id) {
      if (!id.startsWith(next) || !code.includes('import.meta.')) return undefined;
      const place = slashed(path.relative(path.join(next, folder), id));
      const here = `new URL(${JSON.stringify(place)}, import.meta.url).href`;
      const zod = slashed(path.relative(path.dirname(id), path.join(next, 'bundle/zod.cjs')));
      const beside = `new URL(${JSON.stringify(zod)}, import.meta.url).href`;
      const placed = code
        .replaceAll("import.meta.resolve('zod')", beside)
        .replaceAll('import.meta.url', here);
      return { code: placed, map: null };
    },
  };
}

/** Of zod's messages in fifty languages we show none. */
const english = {
  name: 'english',
  load: (id) => (/zod[\\/]v4[\\/]locales[\\/]index\.js$/.test(id) ? 'export {};' : undefined),
};

/** Which packages the bundle is made of. */
export function note(packages) {
  return {
    name: 'note',
    generateBundle(_options, chunks) {
      for (const { moduleIds = [] } of Object.values(chunks))
        for (const id of moduleIds) {
          const [, folder] = packageOf.exec(id) ?? [];
          if (folder !== undefined) packages.add(folder);
        }
    },
  };
}

/** Their licences ask that they be passed on with what is made of them. */
export function licencesOf(packages) {
  const texts = [...packages].map((folder) => {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(folder, 'package.json'), 'utf8'),
    );
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    const text = file === undefined ? '' : readFileSync(path.join(folder, file), 'utf8').trim();
    return `${name} ${version} (${license})\n\n${text}`.trim();
  });
  return `${texts.sort().join(`\n\n${'-'.repeat(60)}\n\n`)}\n`;
}

function slashed(file) {
  return file.split(path.sep).join('/');
}
