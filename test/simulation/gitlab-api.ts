import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type Answer, JsonApi } from "./json-api";

/** An issue of the project. */
interface GitlabIssue {
  readonly iid: number;
  title: string;
  description: string;
  state: "opened" | "closed";
  readonly author: { readonly id: number };
  readonly web_url: string;
}

const PROJECT = "17";
const TOKEN = "token-of-the-project";
/** The bot user that GitLab makes for a project access token. */
const BOT = 41;

/**
 * GitLab's REST API (version 4), as far as the pipeline's scripts call it: the user of a token, and issues of a project by
 * state and author, in pages. It stands for a GitLab server, which can't run here; its answers follow docs.gitlab.com/api.
 */
export class GitlabApi extends JsonApi {
  readonly issues: GitlabIssue[] = [];

  /** What a runner sets for a job of the schedule, and the project's variable. */
  get environment(): Record<string, string> {
    return {
      GITLAB_CI: "true",
      CI_API_V4_URL: `${this.address}/api/v4`,
      CI_PROJECT_ID: PROJECT,
      FORESAIL_GITLAB_TOKEN: TOKEN,
    };
  }

  /** Opens an issue of somebody. */
  issue(title: string, description: string, author = BOT): GitlabIssue {
    const iid = this.issues.length + 1;
    const web_url = `https://gitlab.example.com/ops/clusters/-/issues/${iid}`;
    const made: GitlabIssue = { iid, title, description, state: "opened", author: { id: author }, web_url };
    this.issues.push(made);
    return made;
  }

  protected async answer(request: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams: query } = new URL(request.url ?? "/", "http://localhost");
    if (request.headers["private-token"] !== TOKEN) return [401, { message: "401 Unauthorized" }];
    if (pathname === "/api/v4/user") return [200, { id: BOT }];
    const [, iid] = new RegExp(`^/api/v4/projects/${PROJECT}/issues(?:/(\\d+))?$`).exec(pathname) ?? [
      undefined,
    ];
    if (!pathname.startsWith(`/api/v4/projects/${PROJECT}/issues`))
      return [404, { message: "404 Not Found" }];
    if (request.method === "GET") {
      const [size, page] = [Number(query.get("per_page")), Number(query.get("page"))];
      const found = this.issues.filter(
        ({ state, author }) => state === query.get("state") && String(author.id) === query.get("author_id"),
      );
      return [200, found.slice(size * (page - 1), size * page)];
    }
    const fields = JSON.parse(await text(request)) as Record<string, string>;
    if (request.method === "POST")
      return [201, this.issue(fields["title"] ?? "", fields["description"] ?? "")];
    const issue = this.issues.find((each) => String(each.iid) === iid);
    if (!issue) return [404, { message: "404 Not Found" }];
    issue.title = fields["title"] ?? issue.title;
    issue.description = fields["description"] ?? issue.description;
    if (fields["state_event"] === "close") issue.state = "closed";
    return [200, issue];
  }
}
