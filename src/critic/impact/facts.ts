import type { BlastRadius } from '../../pgc/analyse/blast-radius.js';
import { testPath } from '../../pgc/analyse/surfaces.js';
import type { CallSite } from '../../pgc/shapes.js';
import {
  impactLimits,
  type Component,
  type Fact,
  type FileFacts,
  type FileHistory,
  type Reach,
} from './impact.js';
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
    outer.gaps = outer.gaps.filter((each) => isOwn(each.line_start));
    outer.effects = outer.effects.filter((each) => isOwn(each.line));
    outer.refusals = outer.refusals.filter((each) => isOwn(each.line));
    outer.threats = outer.threats.filter((each) => isOwn(each.line));
  }
}

/** The index knows the lines of the tree; those of the artifact are where the same line stands there, once. */
export function moveTo(text: string, tree: string, components: Component[]): void {
  const [lines, before] = [text.split('\n'), tree.split('\n')];
  for (const [at, each] of [...components.entries()].reverse()) {
    const its = before[each.line - 1] ?? '';
    const line = its.trim() === '' ? -1 : lines.indexOf(its);
    if (line < 0 || lines.includes(its, line + 1)) components.splice(at, 1);
    else Object.assign(each, { line: line + 1, line_end: each.line_end + line + 1 - each.line });
  }
}

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
  const tests = blast.consumers.filter(({ role }) => role === 'test');
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

const branching = /\b(?:if|for|while|case|catch|except|elif|match)\b|&&|\|\||\?(?![.?:,;)>])/g;

export function factsIn(
  file: FileFacts | undefined,
  { line: from, line_end: to }: Pick<Definition, 'line' | 'line_end'>,
): Pick<
  Component,
  'branches' | 'gaps' | 'effects' | 'refusals' | 'threats' | 'checks' | 'givesErrors'
> {
  const isIn = (line: number): boolean => line >= from && line <= to;
  const view = file?.view;
  const code = view?.code.slice(view.offsetOf(from), view.offsetOf(to + 1));
  return {
    branches: code === undefined ? undefined : 1 + (code.match(branching)?.length ?? 0),
    gaps: file?.gaps.filter((each) => isIn(each.line_start)) ?? [],
    effects: file?.effects.filter((each) => isIn(each.line)) ?? [],
    refusals: file?.refusals.filter((each) => isIn(each.line)) ?? [],
    threats: file?.threats.filter((each) => isIn(each.line)) ?? [],
    checks: file?.checks.filter((each) => isIn(each.line)) ?? [],
    givesErrors: view?.family === 'c' && /\breturn\s{1,4}-(?:E[A-Z]+|1)\b/.test(code ?? ''),
  };
}

export function usesOf(sites: readonly CallSite[]): Pick<Component, 'ignoring' | 'using'> {
  const calls = sites.filter(({ kind, file_path }) => kind !== 'slot' && !testPath.test(file_path));
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
  const isTest = ({ file_path }: CallSite): boolean => testPath.test(file_path);
  return {
    users:
      reach.consumers > 0 ? [] : others.filter((each) => !isTest(each)).slice(0, impactLimits.kept),
    tests: reach.tests.length > 0 ? [] : others.filter(isTest).slice(0, impactLimits.kept),
  };
}

export function historyOf(facts: readonly Fact[]): FileHistory | undefined {
  const [, commits, authors] =
    /^(?:at least )?(\d+) commits? by (\d+) authors?/.exec(facts[0]?.text ?? '') ?? [];
  if (commits === undefined) return undefined;
  return { commits: Number(commits), authors: Number(authors), text: facts[0]?.text ?? '' };
}
