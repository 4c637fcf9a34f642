/** Nearest-rank percentile of unsorted figures; NaN of none. */
export function percentile(figures, percent) {
  const sorted = [...figures].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN;
}

export function mean(figures) {
  return figures.length === 0 ? NaN : figures.reduce((sum, each) => sum + each, 0) / figures.length;
}

export const megabytes = (bytes) => `${(bytes / 1024 / 1024).toFixed(0)} MB`;
export const milliseconds = (ms) => (ms < 100 ? ms.toFixed(1) : ms.toFixed(0));
export const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;

/** Columns as wide as their widest cell; numbers to the right. */
export function table(rows) {
  const text = rows.map((row) => row.map(String));
  const widths = text[0].map((_, at) => Math.max(...text.map((row) => (row[at] ?? '').length)));
  const isNumeric = text[0].map((_, at) =>
    text.slice(1).every((row) => /^[\d.,]+( \w+)?$|^-?$/.test(row[at] ?? '')),
  );
  return text
    .map((row) =>
      row
        .map((cell, at) => (isNumeric[at] ? cell.padStart(widths[at]) : cell.padEnd(widths[at])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
