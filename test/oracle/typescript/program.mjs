// A program over all sources of a tree, whose libraries need not be installed.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { outputOf } from '../sources.mjs';

const sourceName = /\.[cm]?[jt]sx?$/;
const fileBytesMax = 1_000_000;
const listedBytesMax = 1 << 20;

/** `{ program, files }`: the checked program and the absolute paths of the sources that git knows. */
export async function programOf(root) {
  const listed = (await outputOf('git', ['ls-files'], root)).split('\n');
  const files = listed
    .filter((each) => sourceName.test(each) && !/\.min\.|(^|\/)node_modules\//.test(each))
    .map((each) => path.join(root, each))
    .filter((each) => existsSync(each) && statSync(each).size <= fileBytesMax);
  const options = optionsOf(root);
  const host = ts.createCompilerHost(options, true);
  const packages = packagesOf(root, listed);
  const cache = ts.createModuleResolutionCache(root, (name) => name, options);
  host.resolveModuleNameLiterals = (literals, file, redirected, its) =>
    literals.map(({ text }) => {
      const found = ts.resolveModuleName(text, file, its, host, cache).resolvedModule;
      const declared = found?.resolvedFileName ?? inPackages(text, packages);
      const resolvedFileName = declared && whatRuns(declared, file);
      const extension = resolvedFileName && path.extname(resolvedFileName);
      return { resolvedModule: resolvedFileName && { ...found, resolvedFileName, extension } };
    });
  return { program: ts.createProgram(files, options, host), files };
}

/** A script that imports another one runs it, whatever is declared beside it. */
function whatRuns(declared, from) {
  const script = declared.replace(/\.d\.([cm]?)ts$/, '.$1js');
  return /\.[cm]?jsx?$/.test(from) && existsSync(script) ? script : declared;
}

/** Its paths and dialect as the tree says; what is checked, and how strictly, is ours. */
function optionsOf(root) {
  const file = path.join(root, 'tsconfig.json');
  const own = existsSync(file)
    ? ts.parseJsonConfigFileContent(ts.readConfigFile(file, ts.sys.readFile).config, ts.sys, root)
        .options
    : {};
  const { paths, baseUrl, pathsBasePath, customConditions, experimentalDecorators } = own;
  return {
    ...{ paths, baseUrl, pathsBasePath, customConditions, experimentalDecorators },
    ...{ allowJs: true, checkJs: false, noEmit: true, skipLibCheck: true, strict: true },
    ...{ allowImportingTsExtensions: true, resolveJsonModule: true, ignoreDeprecations: '6.0' },
    module: ts.ModuleKind.Preserve,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ESNext,
    jsx: ts.JsxEmit.Preserve,
    types: ['node'],
    typeRoots: [path.resolve(import.meta.dirname, '../../../node_modules/@types')],
    maxNodeModuleJsDepth: 0,
  };
}

/** Name -> folder and exports of each package of the tree: nothing links them in node_modules. */
function packagesOf(root, listed) {
  const found = new Map();
  for (const each of listed.filter((name) => path.basename(name) === 'package.json')) {
    const file = path.join(root, each);
    if (!existsSync(file) || statSync(file).size > listedBytesMax) continue;
    try {
      const its = JSON.parse(readFileSync(file, 'utf8'));
      if (its.name && !found.has(its.name))
        found.set(its.name, { ...its, folder: path.dirname(file) });
    } catch {
      // A fixture of a broken package.
    }
  }
  return found;
}

function inPackages(specifier, packages) {
  const parts = specifier.split('/');
  const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
  const its = packages.get(name);
  if (its === undefined) return undefined;
  const rest = parts.slice(name.split('/').length).join('/');
  const key = rest === '' ? '.' : `./${rest}`;
  const written = [
    ...strings(its.exports?.[key] ?? (key === '.' ? its.exports : undefined)),
    ...(rest === '' ? [its.source, its.module, its.main, its.types] : [rest]),
    ...(rest === '' ? ['index'] : []),
  ].filter((each) => typeof each === 'string');
  // What is built is not there: its source has the same path below `src`.
  for (const each of written) {
    const plain = each.replace(/^\.\//, '').replace(/(\.d)?\.[cm]?[jt]sx?$/, '');
    const inner = plain.replace(/^(dist|build|lib|out|esm|cjs)\/((esm|cjs)\/)?/, '');
    for (const candidate of new Set([plain, `src/${inner}`, `source/${inner}`, inner]))
      for (const end of [
        '.ts',
        '.tsx',
        '.mts',
        '.js',
        '.mjs',
        '/index.ts',
        '/index.tsx',
        '/index.js',
        '.d.ts',
      ]) {
        const file = path.join(its.folder, candidate + end);
        if (existsSync(file)) return file;
      }
  }
  return undefined;
}

function strings(value) {
  if (typeof value === 'string') return [value];
  return value && typeof value === 'object' ? Object.values(value).flatMap(strings) : [];
}
