import { posix } from 'node:path';
import {
  isCFamily,
  isCode,
  type FactsLanguage,
  type FileRole,
  type KnownRoles,
} from '../format/facts.js';
import type { ShardIndex } from '../format/shard-index.js';
import { languageOf } from './language.js';

/*
 * What a file is for, told by the conventions of the tools that read it: `go test`, pytest and unittest, jest, vitest and
 * `node --test`, Maven and Gradle, cargo, and linguist, whose attributes a tree may set itself.
 */

/** What `.gitattributes` say of a file; absent: nothing. */
export interface RoleMarks {
  vendored?: boolean | undefined;
  generated?: boolean | undefined;
  documentation?: boolean | undefined;
}

interface RoleSigns {
  /** See `saysGenerated`. */
  generated?: boolean | undefined;
  marks?: RoleMarks | undefined;
}

/** Of a file of an index, which keeps those that the path does not tell. */
export function roleIn({ roles = {} }: { roles?: KnownRoles }, path: string): FileRole {
  return (Object.hasOwn(roles, path) ? roles[path] : undefined) ?? roleOf(path);
}

/** As answers have it: empty where it is source. */
export function saidRole(info: { roles?: KnownRoles }, path: string): string {
  const role = roleIn(info, path);
  return role === 'source' ? '' : role;
}

/** As `saidRole`, of a symbol: what is compiled for tests alone is a test, also in a source file. Below zero: of the file. */
export function saidRoleAt(
  index: Pick<ShardIndex, 'info' | 'file' | 'isTest'>,
  file: number,
  symbol: number,
): string {
  const role = saidRole(index.info, index.file(file).path);
  return role === '' && symbol >= 0 && index.isTest(symbol) ? 'test' : role;
}

/** Whether a file may be shown. `wanted`: empty: any. */
export function isAnyRole(
  info: { roles?: KnownRoles },
  path: string,
  wanted: readonly string[],
): boolean {
  return wanted.length === 0 || wanted.includes(roleIn(info, path));
}

/** The same of a row that has its role. */
export function hasRole({ role = '' }: { role?: string }, wanted: readonly string[] = []): boolean {
  return wanted.length === 0 || wanted.includes(role === '' ? 'source' : role);
}

/**
 * Copies and what programs write are that with any content. A README is for people wherever it stands. What a test runner
 * takes by its name is a test, also where it tests a mock; otherwise a mock among tests is a mock.
 */
export function roleOf(path: string, { generated = false, marks = {} }: RoleSigns = {}): FileRole {
  const place = placeOf(path);
  if (marks.vendored ?? isVendored(place)) return 'vendored';
  if (marks.generated ?? (generated || isGenerated(place))) return 'generated';
  const mayExplain = marks.documentation !== false;
  if (marks.documentation === true || (mayExplain && isNotice(place))) return 'document';
  if (isNamedTest(place)) return 'test';
  const isAmongTests = isTestPlace(place);
  if (isMock(place, isAmongTests)) return 'mock';
  if (isAmongTests) return 'test';
  if (isBenchmark(place)) return 'benchmark';
  if (place.folders.some((each) => exampleFolder.test(each))) return 'example';
  return mayExplain && isDocument(place) ? 'document' : 'source';
}

interface Place {
  /** In lower case; without the packages of a Java source set, whose names are no roles. */
  folders: readonly string[];
  /** `src/<set>/java`, as Maven and Gradle have it; else empty. */
  sourceSet: string;
  name: string;
  /** The name without its extension. */
  stem: string;
  language: FactsLanguage | undefined;
}

const inSourceSet = /^(?:(.*)\/)?src\/([^/]+)\/(?:java|kotlin|scala|groovy|resources)\//;

function placeOf(path: string): Place {
  const [, module, set = ''] = inSourceSet.exec(path) ?? [];
  const folder = set === '' ? posix.dirname(path) : (module ?? '');
  const name = posix.basename(path);
  return {
    folders: folder
      .toLowerCase()
      .split('/')
      .filter((each) => each !== '' && each !== '.'),
    sourceSet: set,
    name,
    stem: name.replace(/(?:\.d)?\.\w+$/, ''),
    language: languageOf(path),
  };
}

/** Of linguist, and of the tools that copy packages into a tree. */
const vendorFolder =
  /^(?:node_modules|bower_components|_?vendors?|third[-_]?party|3rd[-_]?party|extern(?:al)?|godeps)$/;
const vendorRoot = /^(?:deps|dependencies)$/;
const minified = /[.-]min\.js$/;

function isVendored({ folders, name }: Place): boolean {
  if (vendorRoot.test(folders[0] ?? '') || minified.test(name)) return true;
  return folders.some((each) => vendorFolder.test(each));
}

const generatedFolder = /^(?:generated|__generated__|generated[-_]s(?:ou)?rc(?:es)?)$/;
/** What protoc and its plug-ins, flatc and the code generators of Kubernetes call their files. */
const generatedName =
  /\.pb(?:\.\w+)?\.(?:go|h|cc?)$|_pb2(?:_grpc)?\.pyi?$|_pb\.(?:d\.)?[jt]s$|[._]generated\.\w+$|^zz_generated\.|\.gen\.\w+$/;

function isGenerated({ folders, name }: Place): boolean {
  return folders.some((each) => generatedFolder.test(each)) || generatedName.test(name);
}

/** Of linguist. */
const explains = /^(?:CHANGE(?:S|LOG)?|CONTRIBUTING|COPYING|INSTALL|LICEN[CS]E|README)(?:\.|$)/i;
/** Files that are there to be read by a program that is tested. */
const dataFolder = /^_*(?:test[-_]?data|fixtures|snapshots)_*$/;

function isNotice({ folders, name, language }: Place): boolean {
  const isData = folders.some((each) => dataFolder.test(each));
  return !isData && (language === 'text' || prose.includes(language)) && explains.test(name);
}

const documentRoot = /^(?:docs?|man)$/;
const prose: readonly (FactsLanguage | undefined)[] = ['markdown', 'rst', 'maintainers'];
/** `NOTICE.txt`; others are as often lists that a program reads. */
const shouted = /^[A-Z][A-Z\d_.-]*(?:\.txt)?$/;

function isDocument({ folders, name, language }: Place): boolean {
  if (documentRoot.test(folders[0] ?? '') || folders.includes('documentation')) return true;
  return prose.includes(language) || (language === 'text' && shouted.test(name));
}

const ofScripts = /(?:^|[._-])(?:test|spec)$|[._-]tests$|^test-|\.(?:test-d|cy)$/;
const ofC = /^test[._-]|[._-](?:unit)?tests?$|_kunit$|(?<=[a-z\d])(?:Unit)?Tests?$|^Test(?=[A-Z])/;
/** Stems that test runners look for. */
const testNames: Partial<Record<FactsLanguage, RegExp>> = {
  go: /_test$/,
  python: /^test_|_test$|^(?:conftest|tests)$/,
  ...{ javascript: ofScripts, typescript: ofScripts, tsx: ofScripts },
  java: /^Test(?![a-z])|Tests?$|TestCase$|^IT(?=[A-Z])|(?<![A-Z])IT(?:Case)?$/,
  rust: /^tests$|_tests$|^test_/,
  ...{ c: ofC, cpp: ofC },
  shell: /^test[._-]|[._-]test$/,
};

function isNamedTest({ stem, language, sourceSet }: Place): boolean {
  const names = language === undefined ? undefined : testNames[language];
  return !isShipped(sourceSet) && names?.test(stem) === true;
}

/** `test`, `integrationTest`, `testFixtures`, `it`. */
const testSet = /^(?:it|tests?)$|^test[A-Z]|Tests?$/;
const testFolder = /^_*(?:(?:\w+[-_]|unit|self)?tests?|testsuite|e2e|cypress)_*$/;

function isTestPlace({ folders, sourceSet, language }: Place): boolean {
  // `prove` runs what stands in the `t` of the root.
  if (testSet.test(sourceSet) || folders[0] === 't') return true;
  const isScript = language !== undefined && testNames[language] === ofScripts;
  // What a module for tests ships is for others.
  if (isShipped(sourceSet)) return folders.some((each) => /^tests?$/.test(each));
  return folders.some(
    (each) => dataFolder.test(each) || testFolder.test(each) || (isScript && specFolder.test(each)),
  );
}
const specFolder = /^specs?$/;

/** A folder or a stem that is called so, with a word before or behind it: `mocks`, `storefakes`, `mock_store`, `MockStore`. */
function doubles(word: string): { folder: RegExp; name: RegExp } {
  const capital = word.charAt(0).toUpperCase() + word.slice(1);
  return {
    folder: new RegExp(`^(?:__)?${word}s?(?:__)?$|${word}s$`),
    name: new RegExp(
      `^${word}s?(?=[._-]|$)|[._-]${word}s?$|^${capital}(?=[A-Z])|(?<=[a-z\\d])${capital}s?$`,
    ),
  };
}

const [mock, fake, stub] = [doubles('mock'), doubles('fake'), doubles('stub')];

function isMock({ folders, stem, sourceSet, language }: Place, isAmongTests: boolean): boolean {
  if (isShipped(sourceSet) || language === undefined || !isCode(language)) return false;
  // What ships may be half of a remote call, or stand in for an option that is off; in C it is also called a fake.
  const elsewhere = isCFamily(language) ? [mock] : [mock, fake];
  return (isAmongTests ? [mock, fake, stub] : elsewhere).some(
    ({ folder, name }) => name.test(stem) || folders.some((each) => folder.test(each)),
  );
}

const benchmarkFolder = /^_?bench(?:es|marks?)?$/;
const benchmarkName = /^bench(?:marks?)?[._-]|[._-]bench(?:marks?)?$|(?<=[a-z\d])Bench(?:marks?)?$/;

function isBenchmark({ folders, stem, sourceSet, language }: Place): boolean {
  if (sourceSet === 'jmh' || folders.some((each) => benchmarkFolder.test(each))) return true;
  const mayBe = language !== undefined && (isCode(language) || language === 'shell');
  return mayBe && !isShipped(sourceSet) && benchmarkName.test(stem);
}

/** The classes of such a set, by any name, are what the module gives to others. */
function isShipped(sourceSet: string): boolean {
  return sourceSet !== '' && sourceSet !== 'jmh' && !testSet.test(sourceSet);
}

const exampleFolder = /^_?(?:examples?|samples?|demos?)$/;
