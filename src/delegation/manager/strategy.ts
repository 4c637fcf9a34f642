import {
  taskLimits,
  type AnalysisHint,
  type DelegatedTask,
  type Grounding,
  type Strategy,
  type TaskKind,
} from '../task/shapes.js';

/** The strategy for a kind of task, when the task names none. */
export const strategyOf: Readonly<Record<TaskKind, Strategy>> = {
  simple_refactor: 'none',
  bug_fix: 'pgc_verify',
  feature: 'pgc_first',
  architecture: 'pgc_first',
  documentation: 'pgc_cite',
  question: 'pgc_cite',
};

/** The one that a task is done by. */
export function strategyInForce({ grounding, kind }: DelegatedTask): Strategy {
  if (grounding === null) return 'none';
  return grounding.strategy || (kind === '' ? 'pgc_first' : strategyOf[kind]);
}

/** Limit of symbols in a task's text that are analysed when its kind requires it. */
const targetsMax = 4;
/** A word that looks like the name of a symbol. */
const name = /\b(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*)\b|`([A-Za-z_]\w*)`/g;

/**
 * The task with a strategy, and with the analyses that its kind requires. A task with neither grounding nor a kind stays a legacy task without evidence.
 */
export function withStrategy(task: DelegatedTask): DelegatedTask {
  const { grounding, kind } = task;
  if (grounding === null && kind === '') return task;
  const strategy = grounding?.strategy || (kind === '' ? 'pgc_first' : strategyOf[kind]);
  const given = grounding ?? noGrounding;
  const isBare = given.analysis_hints.length === 0 && strategy !== 'none';
  const wanted = isBare && kind === 'architecture';
  const analysis_hints = wanted ? hintsFor(task.task) : given.analysis_hints;
  return { ...task, grounding: { ...given, strategy, analysis_hints } };
}

/** Nothing is hinted at. */
export const noGrounding: Grounding = {
  strategy: '',
  analysis_hints: [],
  algebra_expression: '',
  overlay_hints: [],
  query_hints: [],
};

/** Analyses for a change of the architecture: blast radii of the named symbols, and the layers. */
function hintsFor(text: string): AnalysisHint[] {
  const targets = [...text.matchAll(name)]
    .map(([whole, quoted]) => quoted ?? whole)
    .filter(({ length }) => length <= taskLimits.hintChars);
  const radii = [...new Set(targets)]
    .slice(0, targetsMax)
    .map((target): AnalysisHint => ({ type: 'blast_radius', target, options: '' }));
  return [...radii, { type: 'dependency_check', target: '', options: '' }];
}
