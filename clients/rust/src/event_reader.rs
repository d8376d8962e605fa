//! A stream of events that outlives the connections which carry it.

use std::{
    collections::VecDeque,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep, timeout};
use tonic::Status;

use crate::{
    Code, Error, Result,
    call::{Opening, Request, Responses, watch},
    connection::Connection,
    patience::Patience,
    position::{Position, is_logged, is_terminal},
    refusals::is_break,
    source::{Making, Source, Starter, cancelled},
    v1::Event,
};

/// How long the end of a call that has said its last word is waited for, so that it counts as one that went well.
const DRAIN: Duration = Duration::from_millis(250);

/// Reads events until the stream is over, and opens it anew where it breaks. To give up a poll loses nothing.
pub(crate) struct EventReader {
    pub(crate) connection: Connection,
    source: Source,
    position: Position,
    line: Line,
    ready: VecDeque<Event>,
    over: bool,
    opened: bool,
    limit: Option<Duration>,
    time: Option<Time>,
    broken: String,
}

/// What began with the first poll.
struct Time {
    patience: Patience,
    deadline: Option<Pin<Box<Sleep>>>,
}

/// How the call stands.
enum Line {
    Down,
    Pausing(Pin<Box<Sleep>>),
    Making(Making),
    Opening(Opening),
    Open(Responses, Option<Pin<Box<Sleep>>>),
}

/// What came of a poll of the line.
enum Said {
    Events(Vec<Event>),
    End,
    Broken(Status),
    Silence,
    Refused(Error),
}

impl EventReader {
    pub(crate) fn new(connection: Connection, source: Source, limit: Option<Duration>) -> Self {
        let position = match &source {
            Source::Attempt(_) => Position::of_attempt(),
            Source::Watch(watcher) => Position::of_watch(watcher.request.after_version),
        };
        Self {
            connection,
            source,
            position,
            line: Line::Down,
            ready: VecDeque::new(),
            over: false,
            opened: false,
            limit,
            time: None,
            broken: String::new(),
        }
    }

    /// The next event; none when the stream is over.
    pub(crate) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Poll::Ready(Some(Ok(event)));
            }
            if self.over {
                self.drain();
                return Poll::Ready(None);
            }
            if self.poll_deadline(context).is_ready() {
                return Poll::Ready(Some(Err(self.late())));
            }
            let said = ready!(self.poll_line(context));
            if let Err(error) = self.hear(said) {
                return Poll::Ready(Some(Err(error)));
            }
        }
    }

    /// Whether leaving it means anything: it has begun, and not come to its end.
    pub(crate) fn is_under_way(&self) -> bool {
        self.opened && !self.over
    }

    /// Does what is due when its reader leaves before the end, and gives the call up.
    pub(crate) async fn part(mut self) {
        let limit = self.connection.settings().leave_timeout;
        // Who left waits no longer than this; a run that could not be cancelled in time goes on.
        if timeout(limit, self.cancel()).await.is_err() {
            tracing::warn!(thread_id = self.source.thread_id(), "a run was left, and could not be cancelled in time");
        }
    }

    /// Cancels the run; before it is known, what the request began or waits for.
    async fn cancel(&mut self) {
        while !self.over {
            let Source::Attempt(starter) = &self.source else { return };
            let is_known = self.position.started();
            let Some(request) = starter.cancel(&self.position.run_id) else { return };
            // Where there is nothing of it, the thread is gone; or a newer run has taken the place of this one, which has ended then; or else the
            // request has not come yet, which its stream shows when it has.
            let connection = self.connection.clone();
            if cancelled(&connection, request).await || is_known || !self.is_connected() || !self.learn().await {
                return;
            }
        }
    }

    /// Waits for what is on its way, to know how the request stands; false where nothing comes any more.
    async fn learn(&mut self) -> bool {
        match std::future::poll_fn(|context| self.poll_line(context)).await {
            Said::Events(events) => {
                self.take(events);
                true
            }
            _ => false,
        }
    }

    fn is_connected(&self) -> bool {
        matches!(self.line, Line::Opening(_) | Line::Open(..))
    }

    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let time = self.time.get_or_insert_with(|| Time {
            patience: Patience::new(self.connection.settings()),
            deadline: self.limit.map(|limit| Box::pin(sleep(limit))),
        });
        match &mut time.deadline {
            Some(deadline) => deadline.as_mut().poll(context),
            None => Poll::Pending,
        }
    }

    /// The error of a stream whose time is over; nobody left it, and its run goes on.
    fn late(&mut self) -> Error {
        self.finish();
        let target = &self.connection.settings().target;
        let why = match self.broken.as_str() {
            "" => String::new(),
            broken => format!(" The last that is known of {target}: {broken}"),
        };
        Error::new(
            Code::DeadlineExceeded,
            tonic::Code::DeadlineExceeded,
            format!(
                "the call's timeout is over; a run that has started goes on, and a watch of the thread shows it.{why}"
            ),
        )
    }

    fn poll_line(&mut self, context: &mut Context<'_>) -> Poll<Said> {
        loop {
            match &mut self.line {
                Line::Down => self.line = self.dial(),
                Line::Pausing(pause) => {
                    ready!(pause.as_mut().poll(context));
                    self.line = Line::Down;
                }
                Line::Making(making) => match ready!(making.as_mut().poll(context)) {
                    Ok(request) => {
                        self.source.made(request);
                        self.line = Line::Down;
                    }
                    Err(error) => return Poll::Ready(Said::Refused(error)),
                },
                Line::Opening(opening) => match ready!(opening.as_mut().poll(context)) {
                    Ok(responses) => self.line = Line::Open(responses, None),
                    Err(status) => return Poll::Ready(Said::Broken(status)),
                },
                Line::Open(responses, silence) => {
                    match responses.as_mut().poll_next(context) {
                        Poll::Ready(said) => {
                            *silence = None;
                            return Poll::Ready(match said {
                                Some(Ok(events)) => Said::Events(events),
                                Some(Err(status)) => Said::Broken(status),
                                None => Said::End,
                            });
                        }
                        // Only a run that is under way sends heartbeats for sure.
                        Poll::Pending if !self.position.started() => return Poll::Pending,
                        Poll::Pending => {}
                    }
                    let limit = self.connection.settings().silence_timeout;
                    let silence = silence.get_or_insert_with(|| Box::pin(sleep(limit)));
                    return silence.as_mut().poll(context).map(|()| Said::Silence);
                }
            }
        }
    }

    /// The next call: the request as long as nothing is known of it, then a watch.
    fn dial(&mut self) -> Line {
        let left = self.time_left();
        let opening = match &mut self.source {
            Source::Attempt(starter) if !self.position.started() => match starter.make(&self.connection) {
                Ok(request) => request.open(&self.connection, left),
                Err(making) => return Line::Making(making),
            },
            source => watch(&self.connection, source.watch(&self.position), left),
        };
        if self.opened {
            self.position.join();
        }
        self.opened = true;
        Line::Opening(opening)
    }

    fn time_left(&self) -> Option<Duration> {
        let deadline = self.time.as_ref()?.deadline.as_ref()?;
        Some(deadline.deadline().saturating_duration_since(Instant::now()))
    }

    fn hear(&mut self, said: Said) -> Result<()> {
        match said {
            Said::Events(events) => self.take(events),
            Said::End if self.is_at_end() => self.finish(),
            Said::End | Said::Silence => self.mend(self.cut())?,
            Said::Broken(status) => {
                let error = self.connection.error_of(&status);
                if !is_break(&status) {
                    self.finish();
                    return Err(error);
                }
                self.mend(error)?;
            }
            Said::Refused(error) => {
                self.finish();
                return Err(error);
            }
        }
        Ok(())
    }

    fn take(&mut self, events: Vec<Event>) {
        if let Some(time) = &mut self.time {
            time.patience.heard();
        }
        let mut told = Vec::new();
        for event in events {
            self.position.accept(event, &mut told);
        }
        for event in told {
            if let Some(payload) = &event.payload {
                let terminal = is_terminal(payload);
                match &mut self.source {
                    Source::Attempt(_) => self.over |= terminal,
                    Source::Watch(watcher) => {
                        if is_logged(payload) {
                            watcher.rests = terminal;
                        }
                        self.over |= terminal && !watcher.request.run_id.is_empty();
                    }
                }
            }
            self.ready.push_back(event);
        }
    }

    /// Whether a stream that the server ended in good order is at its end, and was not just cut.
    fn is_at_end(&self) -> bool {
        match &self.source {
            Source::Attempt(_) => false,
            Source::Watch(watcher) => watcher.rests && !watcher.request.follow,
        }
    }

    /// Waits a moment, if it makes sense to try again; else the stream is over, and nobody left it: the run goes on, if it does.
    fn mend(&mut self, error: Error) -> Result<()> {
        error.message().clone_into(&mut self.broken);
        // A run without a thread is in no log, and cancelled when its stream breaks.
        let may_join = !self.source.thread_id().is_empty() || !self.position.started();
        let pause = self.time.as_mut().filter(|_| may_join).and_then(|time| time.patience.pause());
        let Some(pause) = pause else {
            self.finish();
            return Err(error);
        };
        self.line = Line::Pausing(Box::pin(sleep(pause)));
        Ok(())
    }

    fn cut(&self) -> Error {
        let version = self.position.cursor.unwrap_or(0);
        let text = format!(
            "the stream broke off after version {version}, and could not be joined again in time; watch the thread for the rest"
        );
        Error::new(Code::StreamCut, tonic::Code::Unavailable, text).about("version", version.to_string())
    }

    fn finish(&mut self) {
        self.over = true;
        self.line = Line::Down;
    }

    /// Reads the end of a call that has said its last word, without anyone who waits for it.
    fn drain(&mut self) {
        if let Line::Open(mut responses, _) = std::mem::replace(&mut self.line, Line::Down) {
            let end = async move {
                while std::future::poll_fn(|context| responses.as_mut().poll_next(context)).await.is_some() {}
            };
            tokio::spawn(timeout(DRAIN, end));
        }
    }
}

impl Starter {
    /// The request; or where it is not known yet what it says, what finds that out.
    fn make(&mut self, connection: &Connection) -> std::result::Result<Request, Making> {
        match &mut self.request {
            Ok(request) => Ok(request.clone()),
            Err(maker) => Err(maker(connection.clone())),
        }
    }
}
