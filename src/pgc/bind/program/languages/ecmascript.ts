import { builtinModules } from 'node:module';
import { unknown } from '../../../format/expression.js';
import type { ImportRow, TypeRow } from '../../../format/shard-index.js';
import { Modules } from './ecmascript-modules.js';
import type { LanguageMembers, LanguageRules, Manifest, Places } from '../rules.js';
import type { Imported, SourceText } from '../source-text.js';

/** Types of the language as written, and values that every program has. */
const globals =
  'string number boolean symbol bigint void object any unknown never undefined null Function RegExp Error Date Object ' +
  'Array Map Set WeakMap WeakSet Promise Symbol Proxy Reflect JSON Math Number String Boolean BigInt Intl Atomics ' +
  'AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError ArrayBuffer SharedArrayBuffer ' +
  'DataView Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float32Array ' +
  'Float64Array BigInt64Array BigUint64Array globalThis console process Buffer global window document navigator ' +
  'location history localStorage sessionStorage require module exports __dirname __filename setTimeout setInterval ' +
  'setImmediate clearTimeout clearInterval clearImmediate queueMicrotask structuredClone requestAnimationFrame ' +
  'cancelAnimationFrame fetch Request Response Headers URL URLSearchParams FormData Blob File FileReader Event ' +
  'EventTarget CustomEvent AbortController AbortSignal TextEncoder TextDecoder ReadableStream WritableStream ' +
  'TransformStream WebSocket Worker MessageChannel MessagePort BroadcastChannel performance crypto atob btoa ' +
  'parseInt parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI escape unescape eval ' +
  'Element HTMLElement Node NodeJS React JSX WebAssembly Iterator WeakRef FinalizationRegistry';

/** What they give is made by a function that they take. */
const made = 'map flatMap reduce reduceRight then';
const elements =
  'filter slice sort reverse concat splice toSorted toReversed flat with fill union difference';

const makers = Object.fromEntries(made.split(' ').map((name) => [name, unknown]));
const members: Readonly<Record<string, LanguageMembers>> = {
  $list: {
    results: {
      ...makers,
      ...Object.fromEntries(elements.split(' ').map((name) => [name, ''])),
      ...{ find: '[]', findLast: '[]', at: '[]', pop: '[]', shift: '[]', values: '', next: '' },
    },
    parameters: { '': ['[]'], reduce: ['', '[]'], reduceRight: ['', '[]'], sort: ['[]', '[]'] },
  },
  $map: {
    results: { get: '[]', set: '' },
    parameters: { forEach: ['[]', '[k]'] },
  },
  $promise: {
    results: { ...makers, catch: '', finally: '' },
    parameters: { then: ['!'] },
  },
};

/** Every file is a module. `manifests`: of packages and of projects, which name modules. */
export function ecmascriptRules(manifests: readonly Manifest[]): LanguageRules {
  return {
    languages: ['typescript', 'tsx', 'javascript'],
    placesOf: (files) => placesOf(files, manifests),
    builtins: new Set(globals.split(' ')),
    isStructural: false,
    constructors: ['constructor'],
    functionsAreTypes: true,
    whole: 'default',
    itself: 'exports',
    librariesGiveBack: true,
    // Of promises, functions and streams.
    handingOn: new Set(['then', 'catch', 'finally', 'call', 'apply', 'bind', 'pipe']),
    isClosed: true,
    members,
  };
}

function placesOf(files: readonly { path: string }[], manifests: readonly Manifest[]): Places {
  const modules = new Modules(
    files.map(({ path }) => path),
    manifests,
  );
  return {
    scopes: files.map(({ path }) => path),
    imported: (path, rows, types) => importedBy(path, rows, types, modules),
  };
}

function importedBy(
  path: string,
  rows: readonly ImportRow[],
  types: readonly TypeRow[],
  modules: Modules,
): Pick<SourceText, 'imports' | 'exports' | 'wildcards' | 'isOpen'> {
  const imports = new Map<string, Imported>();
  const wildcards: string[] = [];
  for (const { target, names } of rows) {
    const scopes = modules.meantBy(target, path);
    for (const written of names) {
      const [name = '', alias = name] = written.split(':');
      if (written === '*') wildcards.push(...scopes);
      else
        imports.set(alias, {
          scopes,
          name: name === '*' ? '' : name,
          isStandard: isRuntime(target),
        });
    }
  }
  const exports = new Map<string, Imported>();
  for (const { role, name, type } of types) {
    if (role !== 'exported') continue;
    // What is imported is passed on as it is.
    const its = imports.get(type) ?? { scopes: [path], name: type };
    exports.set(name, its);
  }
  return { imports, exports, wildcards, isOpen: false };
}

/** Modules of the runtime that give back what they are given: functions, streams, what is stored or sent. */
const givingModules = new Set(
  (
    'async_hooks cluster diagnostics_channel domain events module perf_hooks repl stream test timers util v8 vm ' +
    'worker_threads'
  ).split(' '),
);
const runtimeModules = new Set(builtinModules);

/** What they give is never of the program. */
function isRuntime(target: string): boolean {
  const name = target.replace(/^node:/, '');
  const [first = ''] = name.split('/');
  return (target !== name || runtimeModules.has(name)) && !givingModules.has(first);
}
