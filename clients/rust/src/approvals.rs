//! What a thread waits for.

use crate::{
    Result,
    connection::Connection,
    v1::{Approval, ListApprovalsRequest},
};

/// All that waits on a thread.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    pub(crate) approvals: Vec<Approval>,
    /// The thread's version when the first page was read.
    pub(crate) version: i64,
}

/// All pages of it.
pub(crate) async fn pending(connection: &Connection, thread_id: &str) -> Result<Pending> {
    let mut request = ListApprovalsRequest { thread_id: thread_id.to_owned(), ..Default::default() };
    let mut found = Pending::default();
    loop {
        let page = connection.ask(connection.approvals().list_approvals(request.clone())).await?;
        if found.version == 0 {
            found.version = page.version;
        }
        found.approvals.extend(page.approvals);
        if page.next_page_token.is_empty() {
            return Ok(found);
        }
        request.page_token = page.next_page_token;
    }
}
