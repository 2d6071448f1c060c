import assert from "node:assert/strict";
import { certificateAdvice, clockAdvice, clockDifference, durationText } from "../../../lib/clock";
import { knownCause } from "../../../lib/known-causes";

const HERE = new Date("2026-11-26T08:00:00Z");
const at = (hours: number) => new Date(HERE.getTime() + hours * 3_600_000);

describe("clocks that differ", () => {
  const lengths: [number, string][] = [
    [0, "0 seconds"],
    [1000, "1 second"],
    [90_000, "2 minutes"],
    [3_600_000, "1 hour"],
    [-3 * 86_400_000, "3 days"],
  ];
  for (const [milliseconds, words] of lengths)
    it(`formats ${milliseconds} ms as ${words}`, () => assert.equal(durationText(milliseconds), words));

  const differences: [string, Date, string | undefined][] = [
    ["behind", at(-3), "3 hours behind the clock here"],
    ["ahead", at(48), "2 days ahead of the clock here"],
    ["equal to a minute", new Date(HERE.getTime() + 59_000), undefined],
    ["no time", new Date("x"), undefined],
  ];
  for (const [what, theirs, words] of differences)
    it(`tells which is ${what}`, () => assert.equal(clockDifference(theirs, HERE), words));

  const validity = { from: at(-24), to: at(24) };
  const advices: [string, Date, Date | undefined, RegExp | undefined][] = [
    [
      "a clock here that is behind",
      at(-48),
      HERE,
      /^the clock of the API server is 2 days ahead of the clock/,
    ],
    [
      "a clock here that is ahead",
      at(48),
      HERE,
      /^the clock of the API server is 2 days behind the clock here/,
    ],
    ["an expired certificate", at(48), at(48), /^its certificate expired 1 day ago \(.*kubeadm certs renew/],
    ["a certificate of the future", at(-48), at(-48), /^its certificate becomes valid in 1 day \(.*renew/],
    ["a server that says no time", at(48), undefined, /^its certificate expired 1 day ago/],
    ["a certificate that is valid", HERE, HERE, undefined],
  ];
  for (const [what, here, date, words] of advices)
    it(`explains ${what}`, () => {
      const advice = certificateAdvice(validity, here, date);
      if (words) assert.match(advice ?? "", words);
      else assert.equal(advice, undefined);
    });

  it("says both times and how to set a clock", () => {
    assert.equal(
      clockAdvice("the clock of w-1", at(-3), HERE),
      "the clock of w-1 is 3 hours behind the clock here (2026-11-26T05:00:00.000Z there, 2026-11-26T08:00:00.000Z here): set the wrong one, for example with: timedatectl set-ntp true",
    );
  });

  const x509 = "x509: certificate has expired or is not yet valid: current time";
  const causes: [string, string, RegExp | undefined][] = [
    [
      "a machine's clock that is behind",
      `w-1: "join-worker" failed with exit code 1:\nerror: ${x509} 2020-01-01T00:00:00Z is before 2026-11-25T07:00:00Z`,
      /^the clock of that machine is 2521 days behind the clock here/,
    ],
    [
      "a machine's clock that is ahead",
      `${x509} 2036-11-26T08:00:00+02:00 is after 2027-11-25T07:00:00Z`,
      /^the clock of that machine is 365\d days ahead/,
    ],
    [
      "an expired certificate",
      `${x509} 2026-11-26T08:00:01Z is after 2026-11-25T07:00:00Z`,
      /has expired: renew/,
    ],
    ["a time that is none", `${x509} 9999999999999 is after x`, /has expired/],
    ["a full etcd", "etcdserver: mvcc: database space exceeded", /alarm NOSPACE.*defragment/],
    ["anything else", "x509: certificate signed by unknown authority", undefined],
  ];
  for (const [what, text, words] of causes)
    it(`knows ${what} by the words of other programs`, () => {
      const cause = knownCause(text, HERE);
      if (words) assert.match(cause ?? "", words);
      else assert.equal(cause, undefined);
    });
});
