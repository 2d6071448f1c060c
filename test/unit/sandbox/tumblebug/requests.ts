import { CREDENTIAL, startFakeTumblebug, type FakeTumblebug } from "../../../support/tumblebug";

/** An answer as it came over the wire. */
export interface WireAnswer {
  readonly status: number;
  readonly text: string;
  readonly body: Record<string, unknown>;
}

/** A fake server, called as the API's description says and not through the client. */
export class RawTumblebug {
  private constructor(readonly fake: FakeTumblebug) {}

  static async open(...args: Parameters<typeof startFakeTumblebug>): Promise<RawTumblebug> {
    return new RawTumblebug(await startFakeTumblebug(...args));
  }

  async ask(
    method: string,
    path: string,
    body?: unknown,
    password = CREDENTIAL.password,
  ): Promise<WireAnswer> {
    const answer = await fetch(`${this.fake.address}${path}`, {
      method,
      headers: { authorization: `Basic ${Buffer.from(`${CREDENTIAL.user}:${password}`).toString("base64")}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      parsed = {};
    }
    return { status: answer.status, text, body: parsed as Record<string, unknown> };
  }

  close(): Promise<void> {
    return this.fake.close();
  }
}
