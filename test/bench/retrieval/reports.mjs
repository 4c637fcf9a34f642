// Reports with known files: read from lines of JSON, or made from the history of a repository.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const logBytesMax = 1024 * 1024 * 1024;
/** A commit that changes more files than that says little about each. */
const filesMax = 4;

/** `{ title, description, paths }` a line. */
export function reportsIn(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
}

/** Messages of commits, newest first, with the files that they change; merges are left out. */
export function historyOf(root, count) {
  const format = '%x01%s%x02%b%x03';
  const log = execFileSync(
    'git',
    ['-C', root, 'log', '--no-merges', '--name-only', `-n${count}`, `--format=${format}`],
    { encoding: 'utf8', maxBuffer: logBytesMax },
  );
  return log
    .split('\x01')
    .slice(1)
    .map((each) => {
      const [message, names] = each.split('\x03');
      const [title, description] = message.split('\x02');
      return { title, description, paths: names.split('\n').filter((name) => name !== '') };
    });
}

const symptom =
  /\b(?:bugzilla|report(?:s|ed)?|bugs?|regress\w*|oops\w*|panics?|hangs?|hung|crash\w*|freez\w*|fails?|lockup|boots?|laptop|resume|suspend)\b|n['’]t work|not work/gi;
const symptomsMin = 2;
const descriptionCharsMin = 350;
const frame = /\w\+0x[0-9a-f]+|\[<[0-9a-f]{8,}>\]/g;
const framesMin = 3;

/**
 * Of messages of commits those that a user might have written: they tell of a symptom at some length, or have a stack
 * trace. Without what comes before the title: the name of the subsystem, which users do not know.
 */
export function asReports(commits, isKnown) {
  return commits
    .filter(({ description, paths }) => {
      if (paths.length === 0 || paths.length > filesMax || !paths.every(isKnown)) return false;
      const symptoms = description.match(symptom)?.length ?? 0;
      const isTold = description.length >= descriptionCharsMin && symptoms >= symptomsMin;
      return isTold || (description.match(frame)?.length ?? 0) >= framesMin;
    })
    .map((each) => {
      const bare = each.title.replace(/^(?:\[[^\]]*\]\s*)*(?:[\w/,. +*-]{1,40}:\s*)+/, '');
      return { ...each, title: bare === '' ? each.title : bare };
    });
}
