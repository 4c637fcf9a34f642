/** Files by which builds say what they run: as much of them as what is asked for reaches. Pure. */

/** Of one file. */
const blocksMax = 500;
const commandsMax = 500;

/** Tasks of Gradle that no other of its usual tasks needs: only who asks for them has them. */
const gradleAside =
  /^(?:clean\w*|publish\w*|upload\w*|install\w*|deploy\w*|run|bootRun|javadoc|release|uninstall\w*)$/;
/** Words of Gradle that only ask: no task runs. */
export const gradleAsks =
  /^(?:tasks|dependencies|dependencyInsight|help|properties|projects|buildEnvironment|outgoingVariants|model|components|wrapper|init|javaToolchains)$/;
const gradleUsual =
  /^(?:compile\w*|process\w*|classes|testClasses|jar|bootJar|war|test|check|build|assemble\w*|lint\w*|jacoco\w*|spotless\w*|generate\w*|clean\w*|publish\w*|run|bootRun|javadoc|install\w*|integrationTest|all|configureEach|withType)$/;

interface Block {
  name: string;
  from: number;
  to: number;
}

/**
 * `code` without the blocks of tasks that these goals do not reach; `names`: of the tasks that it defines; `wired`: tasks that
 * come along with what is left, defined here or by a plugin.
 */
export function reachedGradle(
  code: string,
  bare: string,
  goals: readonly string[],
): { code: string; names: Set<string>; wired: Set<string> } {
  const blocks = gradleBlocks(code, bare);
  const names = new Set(blocks.map(({ name }) => name));
  const isAsking = goals.length === 0 || goals.every((goal) => gradleAsks.test(goal));
  const outer = blanked(code, blocks);
  const wiring = outer
    .split('\n')
    .filter((line) => /dependsOn|finalizedBy|defaultTasks|mustRunAfter/.test(line))
    .join('\n');
  const reached = new Set<string>();
  const queue = isAsking ? [] : [...goals];
  if (!isAsking)
    queue.push(
      ...[...names].filter((name) => gradleUsual.test(name) && !gradleAside.test(name)),
      ...[...names].filter((name) => hasName(wiring, name)),
      // What an abbreviation stands for: `cA` of `cleanAll`.
      ...[...names].filter((name) => goals.some((goal) => isShortFor(goal, name))),
    );
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    for (const block of blocks.filter((each) => each.name === name)) {
      const text = code.slice(block.from, block.to);
      queue.push(...[...names].filter((each) => !reached.has(each) && hasName(text, each)));
    }
  }
  const left = blocks.filter(({ name }) => !reached.has(name));
  const kept = blanked(code, left);
  const wires = isAsking ? [] : [...kept.matchAll(/\b(?:dependsOn|finalizedBy)\b([^\n]{0,400})/g)];
  const wired = wires.flatMap(([, list = '']) =>
    [...list.matchAll(/["']:?(?:[\w-]+:)*(\w+)["']/g)].map((each) => each[1] ?? ''),
  );
  return { code: kept, names, wired: new Set(wired) };
}

function hasName(text: string, name: string): boolean {
  return new RegExp(`(?<![\\w])${name.replace(/\W/g, '')}(?!\\w)`).test(text);
}

function isShortFor(goal: string, name: string): boolean {
  const parts = goal.match(/^[a-z]+|[A-Z][a-z]*/g) ?? [];
  return goal !== name && new RegExp(`^${parts.join('[a-z]*')}`).test(name);
}

function gradleBlocks(code: string, bare: string): Block[] {
  const heads =
    /(?:\btasks?\s*\.\s*(?:register|create|named|getByName|maybeCreate)\s*(?:<[^>\n]{0,80}>)?\s*\(\s*["'](\w+)["'][^\n{]{0,200}|\btask\s*[(\s]\s*["']?(\w+)["']?[^\n{=]{0,200}|\b(?:val\s+)?(\w+)\s+by\s+tasks\.\w+[^\n{]{0,120}|^[ \t]*(?:tasks\.)?(\w+)(?:\.(?:configure|doLast|doFirst))?\s*)(?=\{)/gm;
  const blocks: Block[] = [];
  for (const match of code.matchAll(heads)) {
    const { index, 0: head } = match;
    const name = match[1] ?? match[2] ?? match[3] ?? match[4] ?? '';
    const isNamed = (match[1] ?? match[2] ?? match[3]) !== undefined;
    if (!isNamed && !gradleUsual.test(name)) continue;
    if (bare[index] === ' ' && code[index] !== ' ') continue;
    const open = index + head.length;
    if (blocks.length >= blocksMax) break;
    blocks.push({ name, from: index, to: closing(bare, open, '{', '}') });
  }
  return blocks;
}

/** Behind the bracket that ends what begins there. */
function closing(bare: string, from: number, open: string, close: string): number {
  let depth = 0;
  for (let at = from; at < bare.length; at += 1) {
    if (bare[at] === open) depth += 1;
    else if (bare[at] === close) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return bare.length;
}

function blanked(code: string, blocks: readonly Block[]): string {
  let text = code;
  for (const { from, to } of blocks)
    text = text.slice(0, from) + text.slice(from, to).replace(/[^\n]/g, ' ') + text.slice(to);
  return text;
}

/** Tasks of a Rakefile that these do not reach are gone. Undefined: it has none of a name that is asked for. */
export function reachedRake(source: string, goals: readonly string[]): string | undefined {
  const lines = source.split('\n');
  const blocks: Block[] = [];
  for (const [at, line] of lines.entries()) {
    const head = /^(\s*)(?:multi)?task\s*\(?\s*:?["']?([\w:-]+)/.exec(line);
    if (head === null || blocks.length >= blocksMax) continue;
    const [, indent = '', name = ''] = head;
    const isBlock = /\bdo\b(?:\s*\|[^|]*\|)?\s*$/.test(line);
    const end = isBlock
      ? lines.findIndex((each, index) => index > at && each.startsWith(`${indent}end`))
      : at;
    blocks.push({ name, from: at, to: end < 0 ? lines.length : end + 1 });
  }
  const wanted = goals.length === 0 ? ['default'] : goals.map((goal) => goal.replace(/\[.*/, ''));
  const plain = (name: string): string => name.split(':').at(-1) ?? name;
  if (wanted.some((goal) => !blocks.some(({ name }) => plain(name) === plain(goal))))
    return undefined;
  const reached = new Set<string>();
  const queue = wanted.map(plain);
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    for (const block of blocks.filter((each) => plain(each.name) === name)) {
      const text = lines.slice(block.from, block.to).join('\n');
      queue.push(...blocks.map((each) => plain(each.name)).filter((each) => hasName(text, each)));
    }
  }
  const gone = new Set<number>();
  for (const { name, from, to } of blocks)
    if (!reached.has(plain(name))) for (let at = from; at < to; at += 1) gone.add(at);
  return lines.map((line, at) => (gone.has(at) ? '' : line)).join('\n');
}

const mavenPhases = [
  ...['validate', 'initialize', 'generate-sources', 'process-sources', 'generate-resources'],
  ...['process-resources', 'compile', 'process-classes', 'generate-test-sources'],
  ...['process-test-sources', 'generate-test-resources', 'process-test-resources', 'test-compile'],
  ...['process-test-classes', 'test', 'prepare-package', 'package', 'pre-integration-test'],
  ...['integration-test', 'post-integration-test', 'verify', 'install', 'deploy'],
];
const cleanPhases = ['pre-clean', 'clean', 'post-clean'];

/** A pom or a project of MSBuild or Ant, without what these goals and profiles do not reach. */
export function reachedMaven(
  source: string,
  goals: readonly string[],
  profiles: readonly string[],
): string {
  const plain = source.replace(/<!--[\s\S]*?-->/g, '');
  const active = plain.replace(/<profile>[\s\S]*?<\/profile>/g, (profile) => {
    const id = /<id>\s*([^<\s]+)\s*<\/id>/.exec(profile)?.[1] ?? '';
    return profiles.includes(id) || profile.includes('<activation>') ? profile : '';
  });
  const last = Math.max(-1, ...goals.map((goal) => mavenPhases.indexOf(goal)));
  const isCleaning = goals.some((goal) => cleanPhases.includes(goal));
  return active.replace(/<execution>[\s\S]*?<\/execution>/g, (execution) => {
    const phase = /<phase>\s*([\w-]+)\s*<\/phase>/.exec(execution)?.[1];
    if (phase === undefined) return execution;
    const at = mavenPhases.indexOf(phase);
    if (at >= 0) return at <= last ? execution : '';
    return cleanPhases.includes(phase) && !isCleaning ? '' : execution;
  });
}

/** Targets of Ant that are asked for, with those that they need. */
export function reachedAnt(source: string, goals: readonly string[]): string {
  const plain = source.replace(/<!--[\s\S]*?-->/g, '');
  const targets = [...plain.matchAll(/<target\b([^>]*)(?:\/>|>([\s\S]*?)<\/target>)/g)].slice(
    0,
    blocksMax,
  );
  const of = (name: string, text: string): string =>
    new RegExp(`\\b${name}\\s*=\\s*"([^"]*)"`).exec(text)?.[1] ?? '';
  const first = of('default', /<project\b[^>]*>/.exec(plain)?.[0] ?? '');
  const queue = goals.length > 0 ? [...goals] : [first];
  const reached = new Set<string>();
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (reached.has(name)) continue;
    reached.add(name);
    const target = targets.find(([, head = '']) => of('name', head) === name);
    const needs = `${of('depends', target?.[1] ?? '')},${[...(target?.[2] ?? '').matchAll(/<antcall\s+target="([^"]+)"/g)].map((each) => each[1] ?? '').join(',')}`;
    queue.push(...needs.split(/[\s,]+/).filter((each) => each !== ''));
  }
  const outer = plain.replace(/<target\b[\s\S]*?<\/target>/g, '');
  const bodies = targets.filter(([, head = '']) => reached.has(of('name', head)));
  return [outer, ...bodies.map(([, , body = '']) => body)].join('\n');
}

export interface XmlDeeds {
  /** Argument lists. */
  commands: string[][];
  /** Texts for a shell. */
  shells: string[];
  /** Texts of scripts. */
  scripts: string[];
  /** What is removed. */
  removes: string[];
}

/** What the elements of a build start and remove. */
export function xmlDeeds(source: string): XmlDeeds {
  const deeds: XmlDeeds = { commands: [], shells: [], scripts: [], removes: [] };
  const value = (text: string): string =>
    text
      .replace(/&quot;/g, '"')
      .replace(/&apos;/g, "'")
      .replace(/&lt;/g, '<')
      .replace(/&gt;/g, '>')
      .replace(/&amp;/g, '&')
      .trim();
  for (const [, inside = ''] of source.matchAll(/<configuration>([\s\S]*?)<\/configuration>/g)) {
    const program = /<executable>([^<]*)</.exec(inside)?.[1];
    if (program === undefined) continue;
    const words = [...inside.matchAll(/<argument>([^<]*)</g)].map((each) => value(each[1] ?? ''));
    const line = /<commandlineArgs>([^<]*)</.exec(inside)?.[1];
    if (line === undefined) deeds.commands.push([value(program), ...words]);
    else deeds.shells.push(`${value(program)} ${value(line)}`);
  }
  for (const [, head = '', inside = ''] of source.matchAll(
    /<(?:exec|apply|java)\b([^>]*?)(?:\/>|>([\s\S]*?)<\/(?:exec|apply|java)>)/g,
  )) {
    const program = /\bexecutable\s*=\s*"([^"]*)"/.exec(head)?.[1];
    if (program === undefined) continue;
    const line = [...inside.matchAll(/<arg\s+(value|line)\s*=\s*"([^"]*)"/g)];
    if (line.some((each) => each[1] === 'line'))
      deeds.shells.push(`${value(program)} ${line.map((each) => value(each[2] ?? '')).join(' ')}`);
    else deeds.commands.push([value(program), ...line.map((each) => value(each[2] ?? ''))]);
  }
  for (const [, command = ''] of source.matchAll(/<Exec\b[^>]*?\bCommand\s*=\s*"([^"]*)"/g))
    deeds.shells.push(value(command));
  for (const [, script = ''] of source.matchAll(
    /<(?:script|source)\b[^>]*>(?:\s*<!\[CDATA\[)?([\s\S]*?)(?:\]\]>\s*)?<\/(?:script|source)>/g,
  ))
    if (/[({]/.test(script)) deeds.scripts.push(value(script));
  for (const [found] of source.matchAll(
    /<(?:delete|Delete|RemoveDir|truncate|sql|scp|sshexec|ftp|mail)\b[^>]*>|<fileset>\s*<directory>[^<]*</g,
  ))
    deeds.removes.push(found);
  for (const list of [deeds.commands, deeds.shells, deeds.scripts, deeds.removes])
    if (list.length > commandsMax) list.length = commandsMax;
  return deeds;
}

/** Folders that a build makes, by the names that builds have for them. */
export const builtFolder =
  /\$[({](?:project\.build\.directory|build\.dir|build|buildDir|dist|dist\.dir|target|OutDir|OutputPath|BaseIntermediateOutputPath|IntermediateOutputPath|MSBuildProjectDirectory\)\\(?:obj|bin)|basedir\}\/target|project\.basedir\}\/target)[)}]?/;

/** Commands of a CMakeLists.txt: of its configuration, of what is always built, and of the targets that are named. */
export function cmakeCommands(source: string, targets: readonly string[]): string[][] {
  const plain = source.replace(/#\[\[[\s\S]*?\]\]|#[^\n]*/g, '');
  const commands: string[][] = [];
  const calls =
    /\b(execute_process|exec_program|add_custom_command|add_custom_target|add_test)\s*\(/gi;
  for (const { 0: found, 1: call = '', index } of plain.matchAll(calls)) {
    const inside = plain.slice(
      index + found.length,
      closing(plain, index + found.length - 1, '(', ')') - 1,
    );
    const tokens: string[] = inside.match(/"(?:\\.|[^"\\])*"|\[\[[\s\S]*?\]\]|[^\s"]+/g) ?? [];
    const isTarget = /custom_target/i.test(call);
    const name = tokens[0] ?? '';
    if (isTarget && !tokens.includes('ALL') && !targets.includes(name)) continue;
    let words: string[] | undefined = /exec_program/i.test(call) ? [] : undefined;
    if (words !== undefined) commands.push(words);
    for (const token of tokens) {
      if (token === 'COMMAND') {
        words = [];
        commands.push(words);
      } else if (/^[A-Z][A-Z_]{3,}$/.test(token)) words = undefined;
      else words?.push(token.replace(/^"([\s\S]*)"$/, '$1'));
    }
    if (commands.length > commandsMax) break;
  }
  // What the build itself makes has no text that could be read.
  const built = new Set(
    [...plain.matchAll(/\badd_executable\s*\(\s*([\w.+-]+)/gi)].map((each) => each[1]),
  );
  return commands.filter(([program]) => program !== undefined && !built.has(program));
}
