import type { Definition } from '../../pgc/shapes.js';
import { agrees } from './check-calls.js';
import { definitionsOf } from './check-symbols.js';
import { claimLimits, type Amount, type SymbolName } from './claim.js';
import { ancestorsOf, basesOf } from './classes.js';
import { hasWord, lineOfWord, testPath, type KnownTree, type Words } from './known-tree.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

/** What stands between the head of a class or structure and its end, or is added to it elsewhere in its file. */
export async function checkMemberOf(
  { tree }: Checking,
  owner: SymbolName,
  member: SymbolName,
): Promise<Verdict> {
  const owners = (await definitionsOf(tree, owner)).filter(
    ({ kind, declaration }) => /class|struct|interface|union/.test(kind) && !declaration,
  );
  const [first] = owners;
  if (first === undefined) return unverified(`No class or structure ${owner.name} is known.`);
  for (const each of owners) {
    const text = (await tree.text(each.file_path)) ?? '';
    const body = bodyOf(text, each);
    const isAdded = text.includes(`${owner.name}.prototype.${member.name}`);
    if (hasWord(body, member.name) || isAdded)
      return verified(
        `${member.name} stands in ${owner.name}.`,
        await tree.evidence(each.file_path, each.line, each.line, owner.name),
      );
  }
  const { definitions } = await tree.uses(member.name);
  const names = new Set((await Promise.all(owners.map((each) => ancestorsOf(tree, each)))).flat());
  const its = definitions.find(({ container }) => container === owner.name || names.has(container));
  if (its !== undefined) return verified(`${its.container} has it.`, await place(tree, its));
  const bases = await Promise.all(owners.map((each) => basesOf(tree, each)));
  if (
    /\.(?:[cm]?[jt]sx?|py|java)$/.test(first.file_path) &&
    bases.some((each) => each?.length !== 0)
  )
    return unverified(`What ${owner.name} is made from may have it.`);
  const whole = `${owner.name}.${member.name}`;
  if ((await tree.words()).hasText(whole)) return unverified(`${whole} is a text of the code.`);
  const [elsewhere] = definitions.filter(({ container }) => container !== '');
  return contradicted(
    `${owner.name} has no ${member.name}.`,
    elsewhere === undefined
      ? `Name something that ${owner.name} has.`
      : `It is of ${elsewhere.container}, at ${elsewhere.file_path}:${elsewhere.line}.`,
    await place(tree, elsewhere ?? first),
  );
}

function bodyOf(text: string, { line, line_end }: Definition): string {
  return text
    .split('\n')
    .slice(line - 1, line_end)
    .join('\n');
}

function place(tree: KnownTree, its: Definition): ReturnType<KnownTree['evidence']> {
  return tree.evidence(its.file_path, its.line, its.line, its.symbol);
}

/** The index counts the fields of a structure. */
export async function checkMemberCount(
  { tree }: Checking,
  owner: SymbolName,
  amount: Amount,
): Promise<Verdict> {
  for (const each of await definitionsOf(tree, owner)) {
    const count = /\| fields:(\d{1,4})\b/.exec(each.signature)?.[1];
    if (count === undefined) continue;
    const shown = `${owner.name} has ${count} fields.`;
    if (agrees(Number(count), amount)) return verified(shown, await place(tree, each));
    return contradicted(shown, `Say ${count}.`, await place(tree, each));
  }
  return unverified(`No structure ${owner.name} is known.`);
}

/** Events that objects of Node and of pages have, whoever emits them. */
const usual =
  /^(?:error|close|data|end|finish|drain|pipe|unpipe|readable|pause|resume|open|ready|connect|connection|disconnect|listening|request|response|upgrade|abort|aborted|timeout|socket|exit|message|spawn|online|change|rename|click|load|unload|keydown|keyup|newListener|removeListener|uncaughtException|unhandledRejection|warning|beforeExit|SIG[A-Z]+)$/;

/** What is emitted stands in quotes somewhere, where anything is emitted at all. */
export async function checkEvent({ tree, areNamesOwn }: Checking, name: string): Promise<Verdict> {
  const words = await tree.words();
  const quoted = new RegExp(`['"\`]${name}['"\`]`);
  let emits = false;
  for (const { file, text } of words.texts()) {
    if (testPath.test(file)) continue;
    const at = text.search(quoted);
    if (at >= 0)
      return verified(
        `${file} has it as a text.`,
        await tree.evidence(file, text.slice(0, at).split('\n').length),
        'medium',
      );
    emits ||= /\bemit\(\s*['"]/.test(text);
  }
  if (usual.test(name) || !emits || !words.isComplete || !areNamesOwn)
    return unverified(`${name} is no text of the code.`);
  return contradicted(
    `Nothing in the code emits ${name}.`,
    'Name an event that is emitted.',
    [],
    'medium',
  );
}

/** In the body of a function, or of one that it calls. */
export async function checkMention(
  { tree }: Checking,
  from: SymbolName,
  to: SymbolName,
): Promise<Verdict> {
  const bodies = (await definitionsOf(tree, from)).filter(
    ({ declaration, kind }) => !declaration && /function|method/.test(kind),
  );
  const [first] = bodies;
  if (first === undefined) return unverified(`Nothing is known of ${from.name}.`);
  const options = { deadlineMs: claimLimits.questionMs, signal: tree.signal };
  const callees = (await tree.ground.questions.callees(from.name, options)).callees;
  const below = await Promise.all(
    callees.slice(0, calleesMax).map((each) => tree.uses(each.symbol)),
  );
  const all = [...bodies, ...below.flatMap(({ definitions }) => definitions.slice(0, 2))];
  for (const each of all) {
    const text = (await tree.text(each.file_path)) ?? '';
    const body = bodyOf(text, each);
    if (!hasWord(body, to.name)) continue;
    const line = each.line + lineOfWord(body, to.name) - 1;
    return verified(
      `${each.symbol} names ${to.name}.`,
      await tree.evidence(each.file_path, line, line, to.name),
      'medium',
    );
  }
  if (isThrownByText(await tree.words(), to.name))
    return unverified(`Code that is made while it runs throws ${to.name}.`);
  if (callees.length > calleesMax) return unverified(`${from.name} calls too many functions.`);
  return contradicted(
    `${from.name} does not name ${to.name}, nor does what it calls.`,
    `Name what ${from.name} has.`,
    await place(tree, first),
    'medium',
  );
}

const calleesMax = 24;

/** `"throw Name(…"`: who writes code writes it into a text. */
function isThrownByText(words: Words, name: string): boolean {
  const thrown = new RegExp(`['"\`][^'"\`\\n]{0,80}\\bthrow\\s[^'"\`\\n]{0,80}${name}\\b`);
  for (const { file, text } of words.texts())
    if (!testPath.test(file) && text.includes(name) && thrown.test(text)) return true;
  return false;
}
