import { utils } from "ssh2";

/** A pair of ed25519 keys: the private one as OpenSSH text, the public one as "ssh-ed25519 AAAA… comment". */
interface GeneratedKey {
  readonly private: string;
  readonly public: string;
}

/**
 * Generates an ed25519 key that can be parsed: about one in two hundred of ssh2's keys can't be, by ssh2 or by OpenSSH.
 *
 * @param options a comment, or a passphrase with its cipher and rounds
 */
export function generateKey(
  options: { comment?: string; passphrase?: string; cipher?: string; rounds?: number } = {},
): GeneratedKey {
  for (;;) {
    const pair = utils.generateKeyPairSync("ed25519", options);
    const read = [utils.parseKey(pair.private, options.passphrase), utils.parseKey(pair.public)];
    if (!read.some((key) => key instanceof Error)) return pair;
  }
}
