import type { Row } from "./results";
import { growth, summarize } from "./statistics";

/** An exponent of 1 is linear; differences in the second digit are noise. */
const LINEAR = 1.05;

/** The costs of one size, from all its runs. */
export interface Grown {
  readonly size: number;
  readonly costs: readonly number[];
}

/** Returns one row for each size, and at the last one whether the cost has grown at most as the size has. */
export function growthRows(what: string, unit: Row["unit"], points: readonly Grown[]): Row[] {
  const figures = points.map(({ size, costs }) => ({ size, figure: summarize(costs) }));
  const exponent = growth(figures.map(({ size, figure }) => ({ size, cost: figure.median })));
  return figures.map(({ size, figure }, index) => ({
    what: `${what}, ${size} machines`,
    unit,
    figure,
    ...(index === figures.length - 1 && {
      wanted: { words: `growth ≤ 1; it is ${exponent.toFixed(2)}`, reached: exponent <= LINEAR },
    }),
  }));
}
