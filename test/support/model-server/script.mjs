/**
 * Rules, tried in order; the first that fits answers:
 *
 *   match   regular expression on the text of the last user or tool message; absent: fits
 *   system  the same on the system message
 *   times   it answers so often, then never again: a list of such rules is a conversation that is replayed
 *   answer  what is said, see answer.mjs:
 *     text, calls [{id?, name, arguments: object or text as it is}], refusal, finish
 *     each       regular expression: `text` once for each match in what was asked, $1 and so on filled in;
 *                `after` is said after all of them
 *     repeat     how often `text` is said
 *     usage      {prompt, completion}; null: none is told; absent: 30 and 12
 *     status     an error, with `headers`; its text repeats the key that was sent, as some servers do
 *     raw        a body as it is, with `headers`
 *     hangs      'before': never answers · 'within': begins, and then says nothing more · 'cut': begins, and breaks off
 *     parts      how many parts a stream has of each text; by default 3
 *     sharedIndex  streamed calls all have the index 0
 *     delayMs    it says nothing for so long
 *     follows    true: what is said stands in the conversation itself, see `turnIn`
 */
export class Script {
  #rules;

  constructor(rules) {
    this.#rules = rules.map(({ match = '', system = '', times = Infinity, answer }) => ({
      match: new RegExp(match, 'm'),
      system: new RegExp(system, 'm'),
      left: times,
      answer,
    }));
  }

  answerTo({ messages }) {
    const last = messages.findLast(({ role }) => role === 'user' || role === 'tool');
    const asked = textOf(last);
    const told = textOf(messages.find(({ role }) => role === 'system'));
    const rule = this.#rules.find(
      ({ match, system, left }) => left > 0 && match.test(asked) && system.test(told),
    );
    if (rule === undefined) return { status: 404, headers: {} };
    rule.left -= 1;
    if (rule.answer.follows === true) return turnIn(messages);
    return { ...rule.answer, text: saidTo(asked, rule.answer) };
  }
}

/**
 * A prompt that says what the model does: a line `@turns [answer, …]` in what the user said. The next answer is the one after
 * all that were given since, whoever asks how often: it depends on nothing but the conversation. `$last` in its text is the
 * last result of a tool, `$all` all of them, `$said` what the user said besides; an argument `$self` is all that the user said.
 */
function turnIn(messages) {
  const at = messages.findLastIndex((each) => each.role === 'user' && turns.test(textOf(each)));
  const [line, list] = turns.exec(textOf(messages[at])) ?? ['', '[]'];
  const since = messages.slice(at + 1);
  const number = since.filter(({ role }) => role === 'assistant').length;
  const turn = JSON.parse(list)[number] ?? { text: `there is no turn ${number}` };
  const results = since.filter(({ role }) => role === 'tool').map(textOf);
  const said = { $last: results.at(-1) ?? '', $all: results.join('\n'), $said: '' };
  said.$said = textOf(messages[at]).replace(line, '').trim();
  const text = (turn.text ?? '').replace(/\$(last|all|said)/g, (word) => said[word]);
  const calls = turn.calls?.map((call, index) => ({
    ...{ id: `turn-${number}-${index}`, ...call },
    arguments: withSelf(call.arguments, textOf(messages[at])),
  }));
  return { ...turn, text, ...(calls && { calls }) };
}

function withSelf(given, self) {
  if (typeof given !== 'object') return given;
  const filled = Object.entries(given).map(([key, value]) => [
    key,
    value === '$self' ? self : value,
  ]);
  return Object.fromEntries(filled);
}

const turns = /^@turns (.*)$/m;

function textOf(message) {
  return typeof message?.content === 'string' ? message.content : '';
}

function saidTo(asked, { text = '', each, repeat = 1, after = '' }) {
  if (each === undefined) return text.repeat(repeat);
  const all = [...asked.matchAll(new RegExp(each, 'gm'))];
  const said = all.map((groups) => text.replace(/\$(\d)/g, (_, at) => groups[Number(at)] ?? ''));
  return [...said, after].filter(Boolean).join(' ');
}
