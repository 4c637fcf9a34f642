import { BusError } from '../../errors/bus-error.js';
import type { BlastNode, BlastRadius } from '../../pgc/analyse/blast-radius.js';
import { testPath } from '../../pgc/analyse/surfaces.js';
import type { HandlerPart } from '../../pgc/mine/code-parts.js';
import type { CodeReader, SourceCode } from '../../pgc/mine/code-reader.js';
import type { CallSite } from '../../pgc/shapes.js';
import {
  impactLimits,
  type Component,
  type Fact,
  type FileKnowledge,
  type Reach,
} from './impact.js';
import { hasWord, releaseWords } from './name-words.js';
import type { Definition, Subject } from './subject.js';

/** What stands in a function within a function is of the inner one alone. */
export function ofInnermost(components: readonly Component[]): void {
  for (const outer of components) {
    const inner = components.filter(
      (each) =>
        each !== outer &&
        each.path === outer.path &&
        each.line >= outer.line &&
        each.line_end <= outer.line_end &&
        each.line_end - each.line < outer.line_end - outer.line,
    );
    const isOwn = (line: number): boolean =>
      !inner.some((each) => line >= each.line && line <= each.line_end);
    outer.emptyHandlers = outer.emptyHandlers.filter((each) => isOwn(each.line));
    outer.errors = outer.errors.filter((each) => isOwn(each.line));
    outer.threats = outer.threats.filter((each) => isOwn(each.line));
  }
}

/** Where a definition of the tree stands in an artifact that differs from it; undefined: not there, or several have its name. */
export function movedTo(
  code: SourceCode | undefined,
  { symbol, kind }: Pick<Definition, 'symbol' | 'kind'>,
): Lines | undefined {
  const found = (code?.facts.symbols ?? []).filter(
    (each) => each.name === symbol && each.kind === kind && !each.declaration,
  );
  const [only] = found;
  if (only === undefined || found.length > 1) return undefined;
  return { line: only.line_start, line_end: only.line_end };
}

type Lines = Pick<Definition, 'line' | 'line_end'>;

/** Rules of O2 that say that a place protects. */
export const protects: ReadonlySet<string> = new Set([
  'privilege-check',
  'security-hook',
  'raw-free',
  'random-source',
]);

export function filesOf({ files, definitions }: Subject): string[] {
  return [...new Set([...files, ...definitions.map(({ file_path }) => file_path)])];
}

export function reachOf(blast: BlastRadius, isSymbol: boolean, isMore: boolean): Reach {
  const others = blast.consumers.filter(({ role }) => role !== 'test');
  const tests = [
    ...blast.consumers.filter(({ role }) => role === 'test'),
    ...(isSymbol ? [] : testsWithin(blast)),
  ];
  const isIt = ({ role }: BlastRadius['targets'][number]): boolean => role === 'handler';
  return {
    consumers: others.length,
    direct: others.filter(({ depth }) => depth === 1).length,
    isMore: isMore || blast.truncated || blast.warnings.length > 0,
    agents: [...new Set(others.map(({ agent }) => agent))].sort(),
    callers: others.slice(0, impactLimits.kept),
    tests: tests.slice(0, impactLimits.kept),
    testsDirect: tests.filter(({ depth }) => depth === 1).length,
    openings: blast.metrics.criticalPaths,
    isHeld: isSymbol && blast.targets.some(isIt),
    alike: { users: [], tests: [] },
  };
}

/** Tests in the file itself: they are a part of what was asked about, and are no users of it. */
function testsWithin({ targets }: BlastRadius): BlastNode[] {
  const own = targets.filter(({ role, kind }) => role === 'test' && kind !== 'module');
  return own.map((each) => ({
    ...each,
    ...{ type: 'calls', depth: 1, through: '', call_site: `${each.file_path}:${each.line}` },
    ...{ sites: 1, certainty: 'exact', via: '' },
  }));
}

/** What is said of a handler that drops an error, by every mode that reports one. */
export const swallowedError = {
  cause: 'an error is caught and nothing is done',
  remedy: 'Pass the error on or log it; where nothing has to be done, say why in a comment.',
} as const;

/** Handlers that drop an error. What only releases something may fail: no caller can do anything about it. */
export function emptyHandlersIn({ parts }: SourceCode): HandlerPart[] {
  return parts.handlers.filter(({ isEmpty, tried }) => {
    const last = tried.at(-1) ?? '';
    return isEmpty && !hasWord(last, releaseWords);
  });
}

/** `inTree`: by the lines of the index. `inArtifact`: by those of the text that was parsed. */
export function factsIn(
  file: FileKnowledge | undefined,
  inTree: Lines,
  inArtifact = inTree,
): Pick<
  Component,
  'branches' | 'emptyHandlers' | 'errors' | 'threats' | 'checks' | 'returnsErrors'
> {
  const { language, parts } = file?.code ?? {};
  const isParsed = (line: number): boolean => isWithin(line, inArtifact);
  const errors = parts?.errors.filter((each) => isParsed(each.line)) ?? [];
  return {
    branches: parts === undefined ? undefined : 1 + parts.decisions.filter(isParsed).length,
    emptyHandlers:
      file?.code === undefined
        ? []
        : emptyHandlersIn(file.code).filter((each) => isParsed(each.line)),
    errors,
    threats: file?.threats.filter((each) => isWithin(each.line, inTree)) ?? [],
    checks: file?.checks.filter((each) => isWithin(each.line, inTree)) ?? [],
    returnsErrors: (language === 'c' || language === 'cpp') && errors.length > 0,
  };
}

function isWithin(line: number, { line: from, line_end: to }: Lines): boolean {
  return line >= from && line <= to;
}

export function usesOf(sites: readonly CallSite[]): Pick<Component, 'ignoring' | 'using'> {
  const calls = sites.filter((each) => each.kind !== 'slot' && !isInTest(each));
  return {
    ignoring: calls.filter(({ ignored }) => ignored),
    using: calls.filter(({ ignored }) => !ignored).length,
  };
}

/** Calls of a member of the same name, those aside that are known to be of it. */
export function alikeOf(sites: readonly CallSite[], reach: Reach): Reach['alike'] {
  const own = new Set([...reach.callers, ...reach.tests].map(({ call_site }) => call_site));
  const others = sites.filter(
    ({ kind, file_path, line }) => kind === 'member' && !own.has(`${file_path}:${line}`),
  );
  return {
    users:
      reach.consumers > 0
        ? []
        : others.filter((each) => !isInTest(each)).slice(0, impactLimits.kept),
    tests: reach.tests.length > 0 ? [] : others.filter(isInTest).slice(0, impactLimits.kept),
  };
}

/** A test may stand in the file that it tests. */
function isInTest({ file_path, role }: CallSite): boolean {
  return role === 'test' || testPath.test(file_path);
}

/** Of the item of O3 on the history of a file. */
export function commitsIn([fact]: readonly Fact[]): number | undefined {
  const [, commits] = /^(?:at least )?(\d+) commits? by /.exec(fact?.text ?? '') ?? [];
  return commits === undefined ? undefined : Number(commits);
}

/** A text that cannot be parsed is one of which nothing is known. */
export async function parsed(
  reader: CodeReader,
  path: string,
  text: string | undefined,
): Promise<SourceCode | undefined> {
  if (text === undefined) return undefined;
  try {
    return await reader.read(path, text);
  } catch (error) {
    if (error instanceof BusError) return undefined;
    throw error;
  }
}
