import { expect, it } from "vitest";

import { type MethodName, methodName } from "./method-name.ts";

/** The compiler checks the second column, the test that the function says the same. */
const names: { readonly [Name in ToolNames]: MethodName<Name> } = {
  add: "add",
  get_time: "getTime",
  "add-numbers": "addNumbers",
  "repos/list.all": "reposListAll",
  "db:run query": "dbRunQuery",
  createIssue: "createIssue",
  CreateIssue: "createIssue",
  API_get: "apiGet",
  GET_USER: "getUser",
  get_API_key: "getAPIKey",
  __x__y__: "xY",
  get_2d: "get2d",
  größe_lesen: "größeLesen",
  über_Maß: "überMaß",
  "😀_smile": "😀Smile",
  _: "",
};

type ToolNames =
  | "add"
  | "get_time"
  | "add-numbers"
  | "repos/list.all"
  | "db:run query"
  | "createIssue"
  | "CreateIssue"
  | "API_get"
  | "GET_USER"
  | "get_API_key"
  | "__x__y__"
  | "get_2d"
  | "größe_lesen"
  | "über_Maß"
  | "😀_smile"
  | "_";

it.each(Object.entries(names))("a tool called %j has the method %j", (toolName, method) => {
  expect(methodName(toolName)).toBe(method);
});
