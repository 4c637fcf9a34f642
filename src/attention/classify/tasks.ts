/** Files that say what a name starts: `package.json` and Makefiles. */

/** Rules of one file, and lines of one target. */
const rulesMax = 2_000;
const prerequisitesMax = 200;
const queueMax = 4_000;
/** Characters that its variables become, all together. */
const expandedMax = 512 * 1024;

/** The texts that `npm run NAME` starts, in their order; undefined: the file is none, or has no such script. */
export function packageScripts(source: string, name: string): string[] | undefined {
  const known = scriptsOf(source);
  if (known === undefined) return undefined;
  const text = (each: string): string | undefined =>
    Object.hasOwn(known, each) && typeof known[each] === 'string' ? known[each] : undefined;
  const own = text(name);
  if (own === undefined) return undefined;
  return [text(`pre${name}`), own, text(`post${name}`)].filter((each) => each !== undefined);
}

function scriptsOf(source: string): Record<string, unknown> | undefined {
  try {
    const scripts = (JSON.parse(source) as { scripts?: unknown } | null)?.scripts;
    return typeof scripts === 'object' && scripts !== null
      ? (scripts as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Folders into which the scripts of a `package.json` put what they make. */
export function packageMakes(source: string): ReadonlySet<string> {
  const made = new Set<string>();
  for (const line of Object.values(scriptsOf(source) ?? {}))
    if (typeof line === 'string')
      for (const [, name = ''] of line.matchAll(madeInto)) made.add(name);
  return made;
}

interface MakeRule {
  targets: string[];
  prerequisites: string[];
  lines: string[];
}

export interface Recipes {
  /** Lines of the shell, of the targets and of all that they need. */
  lines: string[];
  /** A target that no rule makes. */
  missing: string[];
}

/**
 * What making these targets runs; none: the first one. A target that is no rule but a file is taken for one. `given`: variables
 * from the command line.
 */
export function makeRecipes(
  source: string,
  wanted: readonly string[],
  given: ReadonlyMap<string, string>,
): Recipes {
  const budget: Budget = { chars: expandedMax };
  const { rules, variables } = parseMakefile(source, budget);
  for (const [name, value] of given) variables.set(name, value);
  const first = rules.flatMap(({ targets }) => targets).find((each) => !/^\.|%/.test(each));
  const goals = wanted.length > 0 ? [...wanted] : first === undefined ? [] : [first];
  const missing = goals.filter((goal) => rulesFor(goal, rules).length === 0);
  const lines: string[] = [];
  const done = new Set<string>();
  const queue = goals.slice(0, queueMax);
  for (let goal = queue.shift(); goal !== undefined; goal = queue.shift()) {
    if (done.has(goal) || done.size >= prerequisitesMax) continue;
    done.add(goal);
    for (const rule of rulesFor(goal, rules)) {
      const stem = stemOf(goal, rule.targets);
      const needs = rule.prerequisites.map((each) => each.replace('%', stem));
      if (queue.length + needs.length <= queueMax) queue.push(...needs);
      else missing.push(goal);
      const own = new Map(variables);
      own
        .set('@', goal)
        .set('<', needs[0] ?? '')
        .set('^', needs.join(' '))
        .set('*', stem);
      lines.push(...rule.lines.map((line) => expanded(line.replace(/^[@+\s-]+/, ''), own, budget)));
    }
  }
  return { lines, missing };
}

/** Where a compiler, a copy or a redirect puts what it makes. */
const madeInto = /(?:(?:^|\s)(?:-o|-d|--?out\w*[= ]|--dist\w*[= ]|>>?)\s*)(\w[\w.-]*)(?=[/\s]|$)/g;

/** Files and folders, by their first name, into which the rules of the file put what they make. */
export function madeBy(source: string, given: ReadonlyMap<string, string>): ReadonlySet<string> {
  const budget: Budget = { chars: expandedMax };
  const { rules, variables } = parseMakefile(source, budget);
  for (const [name, value] of given) variables.set(name, value);
  const made = new Set<string>();
  for (const { lines, targets } of rules) {
    const own = new Map(variables).set('@', targets[0] ?? '');
    for (const line of lines)
      for (const [, name = ''] of expanded(line, own, budget).matchAll(madeInto)) made.add(name);
  }
  return made;
}

function rulesFor(goal: string, rules: readonly MakeRule[]): MakeRule[] {
  const exact = rules.filter(({ targets }) => targets.includes(goal));
  if (exact.some(({ lines }) => lines.length > 0) || exact.length > 0) return exact;
  return rules.filter(({ targets }) => targets.some((each) => matchesStem(goal, each))).slice(0, 1);
}

function matchesStem(goal: string, target: string): boolean {
  const [before = '', after] = target.split('%');
  return after !== undefined && goal.startsWith(before) && goal.endsWith(after);
}

function stemOf(goal: string, targets: readonly string[]): string {
  for (const target of targets) {
    const [before = '', after] = target.split('%');
    if (after !== undefined && goal.startsWith(before) && goal.endsWith(after))
      return goal.slice(before.length, goal.length - after.length);
  }
  return '';
}

function parseMakefile(
  source: string,
  budget: Budget,
): { rules: MakeRule[]; variables: Map<string, string> } {
  const variables = new Map<string, string>([
    ['MAKE', 'make'],
    ['RM', 'rm -f'],
    ['CC', 'cc'],
    ['SHELL', 'sh'],
  ]);
  const rules: MakeRule[] = [];
  let current: MakeRule | undefined;
  for (const line of source
    .replace(/\\\r?\n/g, ' ')
    .replace(/[^\S\n]{65,}/g, (run) => run.slice(0, 64))
    .split(/\r?\n/)) {
    if (/^(?:\t| {2,})/.test(line) && current !== undefined) {
      if (line.trim() !== '' && !line.trim().startsWith('#')) current.lines.push(line.trim());
      continue;
    }
    const setting =
      /^(?:export\s+|override\s+)?([\w.-]+)\s*(\+|\?|:{1,3}|!)?=\s*(.*?)\s*(?:#.*)?$/.exec(line);
    if (setting !== null) {
      const [, name = '', kind, value = ''] = setting;
      const before = variables.get(name);
      if (kind === '+') variables.set(name, `${before ?? ''} ${value}`.trim());
      else if (kind !== '?' || before === undefined)
        variables.set(name, kind === '!' ? `$(${value})` : value);
      continue;
    }
    const head = /^([^\s#:=][^#:=]*?)\s*(?:::?)(?!=)\s*([^;#=]*)(?:;(.*))?(?:#.*)?$/.exec(line);
    if (head === null || rules.length >= rulesMax) continue;
    const [, names = '', needs = '', first] = head;
    current = {
      targets: wordsOf(expanded(names, variables, budget)),
      prerequisites: wordsOf(expanded(needs, variables, budget)).filter((each) => each !== '|'),
      lines: first === undefined ? [] : [first.trim()],
    };
    // just: `name argument="x": needs`.
    const [target, ...parameters] = current.targets;
    if (target !== undefined && parameters.some((each) => each.includes('=')))
      current.targets = [target];
    rules.push(current);
  }
  return { rules, variables };
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((each) => each !== '');
}

/** Make's own values replaced by what they are, its `$$` by the shell's `$`; what is not known is left to the shell, as unknown. */
/** What is left of it; a variable of variables doubles with each. */
interface Budget {
  chars: number;
}

function expanded(
  text: string,
  variables: ReadonlyMap<string, string>,
  budget: Budget,
  depth = 0,
): string {
  budget.chars -= text.length;
  if (depth > 8 || budget.chars < 0) return '$UNKNOWN';
  return text.replace(
    /\$\$|\$\(shell\s+((?:[^()]|\([^()]*\))*)\)|\$[({]([^(){}]*)[)}]|\$([@<^*?+%])|\{\{\s*(\w+)\s*\}\}/g,
    (whole, shell?: string, name?: string, sign?: string, just?: string) => {
      if (whole === '$$') return '$';
      if (shell !== undefined) return `$(${expanded(shell, variables, budget, depth + 1)})`;
      const value = variables.get(name ?? sign ?? just ?? '');
      return value === undefined
        ? /^[\w.]+$/.test(name ?? just ?? '')
          ? `$${(name ?? just ?? '').replaceAll('.', '_')}`
          : '$UNKNOWN'
        : expanded(value, variables, budget, depth + 1);
    },
  );
}
