import { expect, test } from 'vitest';
import { ReportMessages } from '../../../../../src/pgc/search/locate/messages.js';

const report = new ReportMessages([
  'usb 1-1: device descriptor read/64, error -71',
  'iwlwifi 0000:00:14.3: Queue 5 is stuck 12 34',
  'load of index /tmp/x.seg failed after 3 attempts',
]);

test.each([
  ['printf', 'dev_dbg(d, "device descriptor read/%s, error %d\\n", a, b);', 30],
  ['the kernel', 'pr_err("%s: Queue %d is stuck %d %d\\n");', 15],
  ['a template', 'throw Error(`load of index ${path} failed after ${n} attempts`);', 33],
])('a line is matched with the string that %s printed it with', (_, code, chars) => {
  expect(report.matchesIn(['', code])).toMatchObject([{ at: 2, chars }]);
});

test.each([
  ['the parts stand in another order', 'e("error %d device descriptor read", n);'],
  ['a word is missing', 'e("device descriptor never read/%s, error", n);'],
  ['too little is constant', 'e("%s: is %d", n);'],
])('it is not matched where %s', (_, code) => {
  expect(report.matchesIn([code])).toEqual([]);
});

test('the longest string comes first', () => {
  const lines = ['x("Queue %d is stuck");', 'x("device descriptor read/%s, error %d");'];
  expect(report.matchesIn(lines).map(({ at }) => at)).toEqual([2, 1]);
});
