import type { Described } from './described.js';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script for the shell, with all words in it: it starts no process. Where an option or an argument takes a value, files are offered. */
export function completionFor(shell: Shell, commands: readonly Described[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
  }
}

/** Walks over the words before the cursor: which command they lead to, and whether the last one takes a value. */
const walk = (commands: readonly Described[], words: string): string => `
  local at='' word takes=''
  for word in ${words}; do
    takes=''
    case "$at $word" in
      ${alternatives(commands.filter(({ path }) => path.length > 0).map(keyOf))}) at="$at $word" ;;
    esac
    case "$at $word" in
      ${alternatives(commands.flatMap((each) => each.options.filter(({ takesValue }) => takesValue).map(({ long }) => `${keyOf(each)} ${long}`)))}) takes=yes ;;
    esac
  done`;

function bash(commands: readonly Described[]): string {
  const cases = commands.map(
    (each) =>
      `    '${keyOf(each)}') words='${wordsOf(each)
        .map(({ word }) => word)
        .join(' ')}' ;;`,
  );
  return `# sigma: completion for bash
_sigma() {${walk(commands, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  local words=''
  case "$at" in
${cases.join('\n')}
  esac
  COMPREPLY=()
  [[ -n $takes ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o bashdefault -o default -F _sigma sigma
`;
}

function zsh(commands: readonly Described[]): string {
  const cases = commands.map((each) => {
    const all = wordsOf(each).map(({ word, about }) => quoted(`${word}:${about}`));
    return `    '${keyOf(each)}') all=(${all.join(' ')}) ;;`;
  });
  return `#compdef sigma
# sigma: completion for zsh
_sigma() {${walk(commands, '"${(@)words[2,CURRENT-1]}"')}
  local -a all
  case "$at" in
${cases.join('\n')}
  esac
  [[ -z $takes ]] && _describe sigma all
  [[ $PREFIX == -* ]] || _files
}
if [[ $funcstack[1] == _sigma ]]; then _sigma "$@"; else compdef _sigma sigma; fi
`;
}

function fish(commands: readonly Described[]): string {
  const lines = commands.flatMap((each) => {
    const is = `-n ${quoted(`__sigma_at "${keyOf(each)}"`)}`;
    return [
      ...each.commands.map(
        ({ name, about }) => `complete -c sigma -f ${is} -a ${name} -d ${quoted(about)}`,
      ),
      ...each.options.map(({ long, takesValue, about }) => {
        const flag = `-l ${long.replace(/^--/, '')}${takesValue ? ' -r' : ''}`;
        return `complete -c sigma ${is} ${flag} -d ${quoted(about)}`;
      }),
    ];
  });
  const known = commands.filter(({ path }) => path.length > 0).map((each) => quoted(keyOf(each)));
  return `# sigma: completion for fish
function __sigma_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        contains -- "$at $word" ${known.join(' ')}; and set at "$at $word"
    end
    test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function wordsOf({ commands, options }: Described): { word: string; about: string }[] {
  return [
    ...commands.map(({ name, about }) => ({ word: name, about })),
    ...options.map(({ long, about }) => ({ word: long, about })),
  ];
}

/** With a blank before each word. */
function keyOf({ path }: Described): string {
  return path.map((word) => ` ${word}`).join('');
}

function alternatives(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(' | ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`;
}
