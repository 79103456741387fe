import { List } from "./list.js";
import { Resource, first, paged } from "./resources.js";
import type { RequestOptions } from "./transport.js";
import type { Body, Fields, Query } from "./types.js";

/** Accounts of other merchants. To act for one, pass `account` to a call or to the client. */
export class Platform extends Resource {
  requestAccess(fields: Body<"post_platform_access_request"> = {}, options?: RequestOptions) {
    return this.api.call("post_platform_access_request", { body: fields }, options);
  }

  accessRequest(options?: RequestOptions) {
    return this.api.call("get_platform_access_request", {}, options);
  }

  /** Your `external_id` makes it safe to repeat. */
  createAccount(fields: Fields<"post_platform_accounts", "account">, options?: RequestOptions) {
    return this.api.call("post_platform_accounts", { body: { account: fields } }, options);
  }

  retrieveAccount(id: string, options?: RequestOptions) {
    return this.api.call("get_platform_accounts_id", { path: { id } }, options);
  }

  updateAccount(id: string, fields: Fields<"patch_platform_accounts_id", "account">, options?: RequestOptions) {
    const body = { account: fields };
    return this.api.call("patch_platform_accounts_id", { path: { id }, body }, options);
  }

  /** The seller that the invoices of an account name. */
  retrieveSeller(accountId: string, options?: RequestOptions) {
    return this.api.call("get_platform_accounts_id_seller", { path: { id: accountId } }, options);
  }

  updateSeller(
    accountId: string,
    fields: Fields<"patch_platform_accounts_id_seller", "seller">,
    options?: RequestOptions,
  ) {
    const path = { id: accountId };
    return this.api.call("patch_platform_accounts_id_seller", { path, body: { seller: fields } }, options);
  }

  deleteAccount(id: string, options?: RequestOptions) {
    return this.api.call("delete_platform_accounts_id", { path: { id } }, options);
  }

  restoreAccount(id: string, options?: RequestOptions) {
    return this.api.call("post_platform_accounts_id_restore", { path: { id } }, options);
  }

  accounts(filters: Query<"get_platform_accounts"> = {}, options?: RequestOptions) {
    return new List(() => this.api.call("get_platform_accounts", { query: filters }, options));
  }

  submitVerification(
    accountId: string,
    fields: Fields<"post_platform_accounts_id_verification", "verification_request">,
    options?: RequestOptions,
  ) {
    const path = { id: accountId };
    const body = { verification_request: fields };
    return this.api.call("post_platform_accounts_id_verification", { path, body }, options);
  }

  /** The answer has the token and its `url`, which aren't shown again. */
  createOnboardingLink(
    accountId: string,
    fields: Fields<"post_platform_accounts_id_onboarding_links", "onboarding_link">,
    options?: RequestOptions,
  ) {
    const path = { id: accountId };
    const body = { onboarding_link: fields };
    return this.api.call("post_platform_accounts_id_onboarding_links", { path, body }, options);
  }

  retrieveOnboardingLink(accountId: string, linkId: string, options?: RequestOptions) {
    const path = { id: accountId, link_id: linkId };
    return this.api.call("get_platform_accounts_id_onboarding_links_link_id", { path }, options);
  }

  /** By its token; it takes no key. */
  retrieveOnboardingLinkByToken(token: string, options?: RequestOptions) {
    return this.api.call("get_platform_onboarding_links_token", { path: { token } }, options);
  }

  overview(range: Query<"get_platform_overview"> = {}, options?: RequestOptions) {
    return this.api.call("get_platform_overview", { query: range }, options);
  }

  payments(filters: Query<"get_platform_payments"> = {}, options?: RequestOptions) {
    const read = (page: number) =>
      this.api.call("get_platform_payments", { query: paged(filters, page) }, options);
    return new List(read, first(filters));
  }
}
