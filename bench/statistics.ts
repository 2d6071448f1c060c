/** The summary of a few runs. */
export interface Summary {
  readonly median: number;
  readonly least: number;
  readonly most: number;
  readonly runs: number;
}

/**
 * Returns the median of some figures and their spread.
 * @throws Error when there are none
 */
export function summarize(figures: readonly number[]): Summary {
  const sorted = [...figures].sort((a, b) => a - b);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (least === undefined || most === undefined) throw new Error("there is nothing to summarize");
  const middle = sorted.length / 2;
  const median = ((sorted[Math.ceil(middle) - 1] ?? least) + (sorted[Math.floor(middle)] ?? most)) / 2;
  return { median, least, most, runs: sorted.length };
}

/**
 * Returns the ratio of the second cost to the first, from alternating runs: each pair saw the same load, so the median
 * of the pairs' ratios is more stable than the ratio of the medians.
 * @throws Error when there are no pairs, or unequal numbers of runs
 */
export function pairedRatio(base: readonly number[], measured: readonly number[]): Summary {
  if (base.length !== measured.length) throw new Error("each run needs its counterpart");
  return summarize(measured.map((figure, index) => figure / (base[index] ?? Number.NaN)));
}

/**
 * Returns how a cost grows with a size: the exponent p of cost = c · size^p between the first and the last point. 1 is
 * linear, 0 means that it does not grow.
 * @throws Error for fewer than two sizes
 */
export function growth(points: readonly { size: number; cost: number }[]): number {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first.size === last.size)
    throw new Error("growth needs two sizes");
  return Math.log(last.cost / first.cost) / Math.log(last.size / first.size);
}
