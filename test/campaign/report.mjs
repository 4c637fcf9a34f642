import { cpus, loadavg, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { megabytes, table } from '../bench/kernel/figures.mjs';

/**
 * Numbers from the command line, `--name 12`, each with its default; besides them `--json`. Ends the process with 2 on
 * wrong usage.
 */
export function numbersFrom(name, defaults) {
  try {
    const { values } = parseArgs({
      options: {
        json: { type: 'boolean' },
        ...Object.fromEntries(Object.keys(defaults).map((each) => [each, { type: 'string' }])),
      },
    });
    const given = Object.entries(values).filter(([option]) => option !== 'json');
    for (const [option, value] of given)
      if (!(Number(value) >= 0)) throw new Error(`--${option} is a number, not ${value}`);
    const numbers = Object.fromEntries(given.map(([option, value]) => [option, Number(value)]));
    return { ...defaults, ...numbers, json: values.json === true };
  } catch (error) {
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(2);
  }
}

/** Prints figures and claims, and resolves with the exit code: 1 when a claim does not hold. */
export function told(title, { json, figures, claims }) {
  const failed = claims.filter(({ holds }) => !holds);
  if (json) process.stdout.write(`${JSON.stringify({ figures, claims })}\n`);
  else {
    const rows = Object.entries({ ...machine(), ...figures }).map(([name, value]) => [name, value]);
    const lines = claims.map(({ name, holds, detail }) =>
      holds ? `  holds   ${name}` : `  FAILED  ${name}: ${detail}`,
    );
    process.stdout.write(`\n== ${title} ==\n${table([['FIGURE', ''], ...rows])}\n`);
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  return failed.length === 0 ? 0 : 1;
}

function machine() {
  const [processor] = cpus();
  return {
    node: process.version,
    machine: `${cpus().length} x ${processor?.model.trim() ?? ''}, ${megabytes(totalmem())}`,
    load: loadavg()
      .map((each) => each.toFixed(2))
      .join(' '),
  };
}

/** Codes with their counts, most first. */
export function codes(counts) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return sorted.map(([code, count]) => `${code} ${count}`).join(', ') || 'none';
}
